// State that components keep on the page, outside their own element.
interface Document {
  // page_strip.js: whether each page of the lookup with this key is hot, for race and steps
  __kvMemory?: { key: string; lanes: Record<string, boolean[]> };
  __kvPages?: number; // tail_growth.js: the size drawn last
}

interface Window {
  __kafkaviz_class?: ClassTab;
  __kafkaviz_history?: HistoryState;
  __kafkaviz_idle_scripts?: string[]; // index_page.js: the scripts that are still to be evaluated
  __kafkaviz_sidebar?: SidebarState;
  __kafkaviz_teacher?: TeacherWindow;
}

// one_step.js: the state of the browser's history.
interface HistoryState {
  between: string | null; // the address between the two steps of a change of page
  pushedAt: number; // performance.now() of the last step
  known?: string; // the query of the last run of the page
  push?: History['pushState']; // the browser's own function
}

// sidebar.js: the press that waits for its link; each place is the path of a page.
interface SidebarState {
  places: [string, DOMRect][];
  measure?: () => void;
  listens?: boolean;
  target?: string | null;
  isConfirmed?: boolean;
  again?: boolean;
  sent?: string | null;
  pressed?: string | null;
}

// teacher_windows.js: the channel to the other window, the current step, and the step announced by
// the other window but not yet shown.
interface TeacherWindow {
  channel: BroadcastChannel | null;
  place: string | null;
  heard: string | null;
}

// class_link.js: the tab's connection to a class.
interface ClassTab {
  sent: string | null; // the token that was restored and sent
  token: string;
  revision: number; // the revision that this page shows
  abort: AbortController | null; // cancels the waiting request
  trigger?: (name: string, value: string | number) => void;
}
