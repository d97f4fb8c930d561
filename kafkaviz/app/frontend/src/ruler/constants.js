// Where the parts of the drawing stand, how the window behaves, and what a slot can be aimed at.
export const LEFT = 94,
  HEIGHT = 340,
  TIME = { y: 26, h: 34 },
  INDEX = { y: 108, h: 34 },
  LOG = { y: 206, h: 54 };

export const COARSE = 1,
  PAST = 2,
  INSIDE = 3,
  BEYOND = 4; // analysis/segment/links.py, Aim

export const MIN_WINDOW = 240,
  TAIL_ROOM = 0.15,
  CENTRE = 0.475,
  SLICE_WINDOW_ROWS = 1000,
  REST_MS = 120,
  TICK_PX = 90;
