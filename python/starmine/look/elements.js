/* Elements of a page. All text is set as text, never as markup. */

const SVG = "http://www.w3.org/2000/svg";

/** An element with a class, attributes and children; texts become text. */
export function el(tag, kind, attributes = {}, ...children) {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** An element of a drawing. */
export function svg(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
