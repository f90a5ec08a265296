import { plainText } from "./plain-text.ts";

/** What is not done by then is said to be under way. Milliseconds. */
const SHOWN_AFTER_MS = 1_000;
/** However often it changes. Milliseconds. */
const REFRESH_MS = 200;
/** To the beginning of the line, which is emptied. */
const EMPTY_LINE = "\r\u001b[K";

/** Where progress is seen: a terminal, on standard error. */
export type ProgressTerminal = { readonly write: (text: string) => void; readonly columns: number };

export type Progress = {
  /**
   * Does what may take a while, and says so on a terminal: one line that is written over, and gone at the end.
   *
   * @param text what is under way
   * @param task is given what puts another text in its place
   */
  during<T>(text: string, task: (show: (text: string) => void) => Promise<T>): Promise<T>;
  /** Takes the line away, for what is printed meanwhile. */
  hide(): void;
};

/** @param terminal undefined where nothing is to be seen */
export function createProgress(terminal: ProgressTerminal | undefined): Progress {
  let isSeen = false;

  function show(text: string): void {
    terminal?.write(`${EMPTY_LINE}${plainText(text).slice(0, terminal.columns - 1)}`);
    isSeen = true;
  }

  function hide(): void {
    if (isSeen) terminal?.write(EMPTY_LINE);
    isSeen = false;
  }

  return {
    async during(text, task) {
      if (terminal === undefined) return task(() => {});
      let last = text;
      let refreshing: NodeJS.Timeout | undefined;
      const late = setTimeout(() => {
        show(last);
        refreshing = setInterval(() => show(last), REFRESH_MS);
      }, SHOWN_AFTER_MS);
      try {
        return await task((next) => {
          last = next;
        });
      } finally {
        clearTimeout(late);
        clearInterval(refreshing);
        hide();
      }
    },
    hide,
  };
}
