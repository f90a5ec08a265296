/** Check of a proxy that asks the verifier: doctor asks it as a stranger would, and judges what comes back. */
import { randomBytes } from "node:crypto";
import { mintKey } from "../../../domain/key/secret/key-format.ts";
import { type Finding, NOT_CHECKED, note, ok } from "../finding.ts";
import { askProxy, type Probe } from "./ask-proxy.ts";
import { startEchoService } from "./echo-service.ts";
import { proxyFindings } from "./findings.ts";
import { hear } from "./heard.ts";
import type { Outcome } from "./judge.ts";
import { judgeFirst } from "./judge-first.ts";
import { type Look, lookAt } from "./looks.ts";
import { proxyNamed } from "./mistakes.ts";
import * as probes from "./probes.ts";

/** Proxy to check. */
export type ProxyTarget = {
  /** URL of a request by GET that the proxy protects. */
  readonly url: URL;
  /** Key that may make the request; undefined if none is given. */
  readonly key: string | undefined;
  /** Port of loopback that is the proxy's upstream while doctor looks; undefined if it has its own. */
  readonly echoPort: number | undefined;
};

/** Longest time for all requests together. Milliseconds. */
const MAX_TIME_MS = 60_000;

/** Checks the proxy with less than 60 requests. @throws UsageError if the echo's port cannot be had */
export async function checkProxy({ url, key, echoPort }: ProxyTarget): Promise<Finding[]> {
  const agent = `keyplane-doctor/${randomBytes(8).toString("hex")}`;
  const echo = echoPort === undefined ? undefined : await startEchoService(echoPort, agent);
  try {
    const signal = AbortSignal.timeout(MAX_TIME_MS);
    const send = (probe: Probe, key?: string) => {
      const carried: probes.ProbeHeaders = key === undefined ? [] : [["Authorization", `Bearer ${key}`]];
      return askProxy(url, { ...probe, headers: [["User-Agent", agent], ...carried, ...probe.headers] }, signal);
    };
    const answer = await send(probes.get(url.pathname));
    const { proxy, location } = answer instanceof Error ? {} : { proxy: proxyNamed(answer), location: answer.location };
    const first: Outcome = { heard: hear(answer), arrived: echo?.take() };
    const fault = judgeFirst(first, { url: url.href, proxy, location });
    if (fault !== undefined) return [fault, note(fault.name, `${NOT_CHECKED}all else, because this comes first`)];
    const isGateway = first.heard.is === "refusal" && first.heard.protects === "gateway";
    const look: Look = {
      // A gateway's proxy has nothing at its root.
      path: isGateway && url.pathname === "/" ? "/v1/models" : url.pathname,
      ...{ isGateway, key, hasEcho: echo !== undefined, unknownKey: mintKey(randomBytes) },
      ask: async (probe, key) => ({ heard: hear(await send(probe, key)), arrived: echo?.take() }),
    };
    const what = isGateway ? "models" : "a scope";
    const asks = ok("proxy-verifier", `${proxy ?? "the proxy"} at ${url.href} asks the verifier, for ${what}`);
    return [asks, ...proxyFindings(await lookAt(look), proxy)];
  } finally {
    echo?.close();
  }
}
