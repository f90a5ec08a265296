import type { Inputs } from "./resources.ts";
import { revealAll, type Values } from "./values.ts";

/** State of a resource, and the inputs that its program gives now, with the marks of secrets or without. */
export type Update<Properties extends Values | Inputs> = {
  /** Outputs in the state. */
  readonly olds: Properties;
  readonly oldInputs: Properties;
  readonly news: Properties;
};

/** Returns an update without the marks. */
export function revealUpdate({ olds, oldInputs, news }: Update<Values>): Update<Inputs> {
  return { olds: revealAll(olds), oldInputs: revealAll(oldInputs), news: revealAll(news) };
}
