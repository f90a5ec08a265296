import { DAY_MS, HOUR_MS } from "../../../domain/duration.ts";

/** Time up to the present that refusals are shown for. */
export type RefusalSpan = { readonly name: "hour" | "day"; readonly title: string; readonly ms: number };

const HOUR: RefusalSpan = { name: "hour", title: "Last hour", ms: HOUR_MS };
const DAY: RefusalSpan = { name: "day", title: "Last day", ms: DAY_MS };
export const REFUSAL_SPANS = [HOUR, DAY] as const;

/** Reads the span of a URL: an hour unless it names another that exists. */
export function refusalSpan(value: unknown): RefusalSpan {
  return REFUSAL_SPANS.find(({ name }) => name === value) ?? HOUR;
}
