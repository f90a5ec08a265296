/** Judgements of what a service behind a proxy is sent. Pure. */
import { fine, inShort, type Judgement, mistake, type Outcome, unchecked } from "./judge.ts";
import { CLAIMS, FORGED } from "./probes.ts";

/**
 * Judges what the service is sent of a request with a good key.
 *
 * @param key the key, of which it is sent nothing
 */
export function judgeSent(what: string, { heard, arrived = [] }: Outcome, key: string): Judgement[] {
  const of = "proxy-service";
  const clean = fine(of, "the service is sent what the verifier says, no key, and nothing that a client claims");
  if (arrived.length === 0) {
    const isRefused = (heard.is === "refusal" && heard.status !== 429) || (heard.is === "other" && heard.status < 500);
    return [isRefused ? clean : unchecked(of, what, `the answer is ${inShort(heard)}`)];
  }
  const judgements = arrived.flatMap(({ rawHeaders, target }) => {
    const held = (text: string) => rawHeaders.filter((_, i) => i % 2 === 0 && (rawHeaders[i + 1] ?? "").includes(text));
    const names = rawHeaders.filter((_, i) => i % 2 === 0);
    const named = names.map((name) => name.toLowerCase());
    const keys = held(key);
    const forged = [...held(FORGED), ...names.filter((_, i) => named[i] === "upgrade")];
    const lacking = CLAIMS.filter((claim) => named.filter((name) => name === claim).length !== 1);
    // Proxies leave out a header that is empty: a key of the management API has no namespace.
    const missing = lacking.filter((claim) => claim !== "x-keyplane-namespace" || named.includes(claim));
    return [
      ...(keys.length > 0 || target.includes(key)
        ? [mistake("key goes on", `the service is sent the key: ${what}`)]
        : []),
      ...(forged.length > 0 ? [mistake("forged goes on", `the service is sent a client's ${forged.join(", ")}`)] : []),
      ...(missing.length > 0
        ? [mistake("unnamed", `${what} reaches the service without one ${missing.join(", ")}`)]
        : []),
    ];
  });
  return judgements.length > 0 ? judgements : [clean];
}

/** Judges whether the service is sent a request's own target, and all of its body. */
export function judgeWhole(
  what: string,
  { arrived = [] }: Outcome,
  sent: { readonly target: string; readonly bodyBytes: number },
): Judgement[] {
  return arrived.flatMap(({ target, bodyBytes }) => [
    ...(target === sent.target ? [] : [mistake("elsewhere", `${what} reaches the service with another path`)]),
    ...(bodyBytes === sent.bodyBytes
      ? []
      : [mistake("lost", `of ${what} the service is sent ${bodyBytes} of ${sent.bodyBytes} bytes`)]),
  ]);
}
