import type { RequestScope } from "../../../../domain/access/request-scope.ts";
import type { AnswersUsed, KeyUse } from "../../../../domain/usage/advice/key-use.ts";

const DAY = 86_400_000;
export const TO = Date.UTC(2026, 10, 25);
export const FROM = TO - 30 * DAY;

const NO_PEAK = { fiveMinutes: 0, recentHour: 0, hour: 0 };

/** A key that was made long ago, of which all is counted, with what is given instead. */
export function useOf(given: Partial<KeyUse> = {}, requests: { readonly [S in RequestScope]?: number } = {}): KeyUse {
  return {
    ...{ namespace: "research", spec: {}, madeAt: FROM - DAY, from: FROM, to: TO, countedSince: FROM - DAY },
    ...{ lastUsedAt: TO - DAY, answers: [], answersWithoutTokens: 0, networks: [], networksSince: FROM - DAY },
    ...{ libraries: [], librariesSince: FROM - DAY, reachableLibraries: 3 },
    ...{ peakRequests: NO_PEAK, peakTokens: NO_PEAK },
    requests: new Map(Object.entries(requests) as [RequestScope, number][]),
    ...given,
  };
}

/** Answers of the gateway `main` to calls that named no route, with what is given instead. */
export function answers(given: Partial<AnswersUsed> = {}): AnswersUsed {
  return {
    ...{ gateway: { namespace: "research", name: "main" }, gatewayId: "gw_main", route: undefined },
    ...{ model: "gpt-5", calls: 10 },
    ...given,
  };
}
