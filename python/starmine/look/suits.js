/* The suits by their letters: name, shape in a box of 24 x 24, fill of the cards, and what is drawn on it. Python reads
 * the object as JSON (shapes.py). A fill of several colours is a gradient from the upper left to the lower right. */
export const SUITS = {
  "R": {"name": "red", "shape": "M12 2 23 21H1z", "fill": "#c63d3d", "ink": "#ffffff"},
  "Y": {"name": "yellow", "shape": "M12 1.5 15.1 8.4 22.6 9.2 17 14.2 18.6 21.6 12 17.8 5.4 21.6 7 14.2 1.4 9.2 8.9 8.4z", "fill": "#f0c52e", "ink": "#30270a"},
  "G": {"name": "green", "shape": "M3 21C3 9 10 3 21 3 21 14 15 21 3 21z", "fill": "#12805c", "ink": "#ffffff"},
  "W": {"name": "white", "shape": "M12 1 21 12 12 23 3 12z", "fill": "#fbfaf4", "ink": "#2b2f3a"},
  "B": {"name": "blue", "shape": "M12 1.5C16 7.5 19.5 10.5 19.5 15A7.5 7.5 0 0 1 4.5 15C4.5 10.5 8 7.5 12 1.5z", "fill": "#2468b4", "ink": "#ffffff"},
  "M": {"name": "multicolour", "shape": "M12 0 14.6 5.7 20.5 3.5 18.3 9.4 24 12 18.3 14.6 20.5 20.5 14.6 18.3 12 24 9.4 18.3 3.5 20.5 5.7 14.6 0 12 5.7 9.4 3.5 3.5 9.4 5.7z", "fill": [["0", "#c63d3d"], ["30%", "#b8791a"], ["55%", "#12805c"], ["80%", "#2468b4"], ["100%", "#7a3db8"]], "ink": "#ffffff"},
  "K": {"name": "black", "shape": "M3 3H21V21H3z", "fill": "#2a2d36", "ink": "#ffffff"},
  "S": {"name": "spades", "shape": "M12 1C9 6 3 9 3 14A4.5 4.5 0 0 0 10.6 17.2L9.5 22H14.5L13.4 17.2A4.5 4.5 0 0 0 21 14C21 9 15 6 12 1z", "fill": "#2a2d36", "ink": "#ffffff"},
  "H": {"name": "hearts", "shape": "M12 22C4 15 2 11.5 2 8A5 5 0 0 1 12 6.2 5 5 0 0 1 22 8C22 11.5 20 15 12 22z", "fill": "#c63d3d", "ink": "#ffffff"},
  "D": {"name": "diamonds", "shape": "M12 1 20 12 12 23 4 12z", "fill": "#2468b4", "ink": "#ffffff"},
  "C": {"name": "clubs", "shape": "M12 2A4.4 4.4 0 0 1 15.9 8.5 4.6 4.6 0 1 1 13.2 16.1L14.5 22H9.5L10.8 16.1A4.6 4.6 0 1 1 8.1 8.5 4.4 4.4 0 0 1 12 2z", "fill": "#12805c", "ink": "#ffffff"},
  "P": {"name": "purple", "shape": "M8 2H16L23 12 16 22H8L1 12z", "fill": "#7a3db8", "ink": "#ffffff"},
  "T": {"name": "teal", "shape": "M9 2H15V9H22V15H15V22H9V15H2V9H9z", "fill": "#45c4d2", "ink": "#06262b"}
};
