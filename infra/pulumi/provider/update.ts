import type { Inputs } from "./resources.ts";
import { revealAll, type Values } from "./values.ts";

/** What the state has of a resource, and what its program says now: with the marks of secrets, or without. */
export type Update<Properties extends Values | Inputs> = {
  /** The outputs that the state has. */
  readonly olds: Properties;
  readonly oldInputs: Properties;
  readonly news: Properties;
};

/** An update without the marks. */
export function revealUpdate({ olds, oldInputs, news }: Update<Values>): Update<Inputs> {
  return { olds: revealAll(olds), oldInputs: revealAll(oldInputs), news: revealAll(news) };
}
