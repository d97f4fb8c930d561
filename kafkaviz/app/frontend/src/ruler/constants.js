// The layout of the drawing, the behaviour of the window, and the values of Aim.
export const LEFT = 94,
  HEIGHT = 278,
  TIME = { y: 24, h: 34 },
  INDEX = { y: 102, h: 34 },
  LOG = { y: 180, h: 40 };

export const COARSE = 2,
  PAST = 4,
  INSIDE = 5,
  BEYOND = 6,
  NO_BATCH = 7; // the values of Aim in analysis/segment/links.py

export const MIN_WINDOW = 240,
  TAIL_ROOM = 0.15,
  CENTRE = 0.475,
  SLICE_WINDOW_ROWS = 1000,
  REST_MS = 120,
  TICK_PX = 90;
