// What the components keep on the page itself, beyond the element that each of them draws in.
interface Document {
  __kvStep?: { key: string; search: number; probes: number; over: boolean }; // the stepper's last one
  __kvPages?: number; // tail_growth.js: the size that was drawn last, also where its tab was left
}

interface Window {
  __kafkaviz_class?: ClassTab;
  __kafkaviz_history?: HistoryState;
  __kafkaviz_idle_scripts?: string[]; // index_page.js: the addresses of those that are still to be evaluated
  __kafkaviz_sidebar?: SidebarState;
  __kafkaviz_teacher?: TeacherWindow;
}

// one_step.js: how the browser's history stands.
interface HistoryState {
  between: string | null; // the address between the two steps of a change of page
  pushedAt: number; // when a step was last taken, by performance.now()
  known?: string; // the query that the last run of the page was given
  push?: History['pushState']; // the browser's own
}

// sidebar.js: which press still waits for its link; each place is the path of a page.
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

// teacher_windows.js: the channel to the teacher's other window, the step that is shown here, and the one that it named and that is to come.
interface TeacherWindow {
  channel: BroadcastChannel | null;
  place: string | null;
  heard: string | null;
}

// class_link.js: the tab in a class.
interface ClassTab {
  sent: string | null; // the token that was restored and sent
  token: string;
  revision: number; // of the class, that this page shows
  abort: AbortController | null; // of the request that waits
  trigger?: (name: string, value: string | number) => void;
}
