import { DAY_MS, HOUR_MS } from "../../../domain/duration.ts";

/** A time that refusals are shown of, up to the present. */
export type RefusalSpan = { readonly name: "hour" | "day"; readonly title: string; readonly ms: number };

const HOUR: RefusalSpan = { name: "hour", title: "Last hour", ms: HOUR_MS };
const DAY: RefusalSpan = { name: "day", title: "Last day", ms: DAY_MS };
export const REFUSAL_SPANS = [HOUR, DAY] as const;

/** The span that an address asks for: an hour where it asks for none that there is. */
export function refusalSpan(value: unknown): RefusalSpan {
  return REFUSAL_SPANS.find(({ name }) => name === value) ?? HOUR;
}
