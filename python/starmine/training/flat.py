"""All weights of a network in one tensor."""

from __future__ import annotations

import torch
from torch import nn


def flat_weights(network: nn.Module) -> nn.Parameter:
    """Move a network's weights into one tensor, and their gradients into another, of which its own become views.

    An optimizer step and the norm of the gradient then take one call instead of one for each layer.

    Args:
        network: of float weights, all on one device.

    Returns:
        The weights, with a gradient of zeros. Set the gradient to zero by `.grad.zero_()`, never to None.
    """
    parameters = list(network.parameters())
    flat = nn.Parameter(torch.cat([parameter.detach().flatten() for parameter in parameters]))
    flat.grad = torch.zeros_like(flat)
    sizes = [parameter.numel() for parameter in parameters]
    pieces = zip(parameters, torch.split(flat.detach(), sizes), torch.split(flat.grad, sizes), strict=True)
    for parameter, weights, gradient in pieces:
        parameter.data = weights.view_as(parameter)
        parameter.grad = gradient.view_as(parameter)
    return flat
