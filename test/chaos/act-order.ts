import type { Report } from "../oracle/report.ts";

/** Keeps what is done to one thing in order, while all else goes on beside it. */
export type ActOrder = {
  /** Has something done in the name of a declaration or of a namespace, after all that was asked for it before. */
  act(title: string, what: () => Promise<unknown>): void;
  /** Resolves once nothing that was asked for is outstanding. */
  settled(): Promise<void>;
};

export function keepActsInOrder(report: Report): ActOrder {
  const chains = new Map<string, Promise<unknown>>();
  return {
    act(title, what) {
      // A namespace's own acts come after those of all its keys, and before their next ones.
      const [namespace] = title.split("/");
      const before = title.includes("/")
        ? [chains.get(title), chains.get(namespace ?? "")]
        : [...chains].filter(([other]) => other === title || other.startsWith(`${title}/`)).map(([, chain]) => chain);
      const next = Promise.all(before)
        .then(what)
        .catch((error: unknown) =>
          report.violation({ rule: "the harness itself", subject: title, what: String(error).slice(0, 4_000) }),
        );
      chains.set(title, next);
    },
    async settled() {
      let seen = -1;
      while (seen !== chains.size) {
        seen = chains.size;
        await Promise.all(chains.values());
      }
    },
  };
}
