import { plainText } from "./plain-text.ts";

/** Time after which a running task is shown. Milliseconds. */
const SHOWN_AFTER_MS = 1_000;
/** Time between two updates, however often the text changes. Milliseconds. */
const REFRESH_MS = 200;
/** Control sequence that moves to the beginning of the line and empties it. */
const EMPTY_LINE = "\r\u001b[K";

/** Terminal on standard error that shows progress. */
export type ProgressTerminal = { readonly write: (text: string) => void; readonly columns: number };

export type Progress = {
  /**
   * Runs a task that may take a while, and shows it on a terminal as one line, which is rewritten and removed at the
   * end.
   *
   * @param text description of the task
   * @param task called with a function that replaces the text
   */
  during<T>(text: string, task: (show: (text: string) => void) => Promise<T>): Promise<T>;
  /** Removes the line, so that something else can be printed. */
  hide(): void;
};

/**
 * Creates the display of progress.
 *
 * @param terminal undefined if nothing is to be shown
 */
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
