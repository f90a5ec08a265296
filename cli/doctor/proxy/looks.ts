/** Requests to a proxy that asks the verifier, in groups, each with its judgements. */
import type { Probe } from "./ask-proxy.ts";
import type { Heard } from "./heard.ts";
import {
  isHeaderRefused,
  type Judgement,
  judgeHead,
  judgeKeyless,
  judgeShown,
  mistake,
  type Outcome,
  reaches,
  unchecked,
} from "./judge.ts";
import { judgeSent, judgeWhole } from "./judge-sent.ts";
import { judgeGood, judgeModelBody, judgeNext, judgeNotFound } from "./judge-with-key.ts";
import * as probes from "./probes.ts";

/** Proxy that has been asked once: what its other answers are judged by. */
export type Look = {
  /** Path of the request that a good key may make. */
  readonly path: string;
  readonly isGateway: boolean;
  readonly unknownKey: string;
  readonly key: string | undefined;
  readonly hasEcho: boolean;
  ask(probe: Probe, key?: string): Promise<Outcome>;
};

const LOOKS: readonly ((look: Look) => Promise<Judgement[]>)[] = [
  askWithoutKey,
  askOfOthers,
  sendBodiesWithoutKey,
  askWithKey,
  sendBodiesWithKey,
];

/** Judgement of what no request from outside shows. */
const UNSEEN = unchecked(
  "proxy-answers",
  "429, and what callers get while the verifier is away",
  "doctor uses up no limit, and stops nothing",
);

/** Looks at all of a proxy. */
export async function lookAt(look: Look): Promise<Judgement[]> {
  const judgements: Judgement[] = [UNSEEN];
  for (const each of LOOKS) judgements.push(...(await each(look)));
  return judgements;
}

/** Asks for the path, for other spellings of it and for what gateways serve, without a key and with an unknown one. */
async function askWithoutKey({ ask, path, isGateway, unknownKey }: Look): Promise<Judgement[]> {
  const elsewhere = await ask(probes.get(probes.NO_PATH));
  const unknown = await ask(probes.get(path), unknownKey);
  const head = await ask({ ...probes.get(path), method: "HEAD" });
  const judgements = [
    judgeKeyless(`GET ${path} with an unknown key`, unknown, elsewhere.heard),
    judgeHead(`HEAD ${path}`, head, elsewhere.heard),
    ...(elsewhere.arrived?.length ? [judgeKeyless(`GET ${probes.NO_PATH}`, elsewhere, elsewhere.heard)] : []),
  ];
  const method = "PROPFIND";
  judgements.push(judgeKeyless(`${method} ${path}`, await ask({ ...probes.get(path), method }), elsewhere.heard));
  for (const spelt of probes.spellingsOf(path)) {
    judgements.push(judgeKeyless(`GET ${spelt}`, await ask(probes.get(spelt)), elsewhere.heard, "spelling"));
  }
  for (const served of isGateway ? probes.COLLECTIONS : []) {
    if (served === path) continue;
    judgements.push(judgeKeyless(`GET ${served}`, await ask(probes.get(served)), elsewhere.heard));
  }
  return judgements;
}

/** Asks with a key in the query, which the verifier refuses before all else, beside headers that claim another request. */
async function askOfOthers({ ask, path, unknownKey }: Look): Promise<Judgement[]> {
  const target = `${path}?key=${unknownKey}`;
  const plain = judgeShown("the query of a request", await ask(probes.get(target)), 400, "target");
  if (plain.is !== "fine") return [plain];
  const judgements = [plain, reaches(400), reaches(401)];
  for (const place of probes.TARGET_PLACES) {
    const what = `the target of a request that claims another one in ${place}`;
    judgements.push(judgeShown(what, await ask(probes.get(target, [[place, path]])), 400, "claim"));
  }
  for (const place of probes.METHOD_PLACES) {
    const what = `the method of a request that claims another one in ${place}`;
    const probe = { ...probes.get(path, [[place, "GET"]]), method: probes.ODD_METHOD };
    judgements.push(judgeShown(what, await ask(probe), 403, "claim"));
  }
  return judgements;
}

/** Sends bodies without a key. */
async function sendBodiesWithoutKey({ ask, path, isGateway, hasEcho }: Look): Promise<Judgement[]> {
  // A service of others could carry out a POST that is let through.
  if (!isGateway && !hasEcho) {
    return [unchecked("proxy-keys", "POST", "the service could carry it out: give --authz-echo")];
  }
  const target = isGateway ? probes.CHAT : path;
  const post = { ...probes.get(target), method: "POST" };
  const small = await ask({ ...post, body: probes.SMALL_CALL });
  const { heard } = await ask({ ...post, body: probes.LARGE_CALL });
  const isTooLarge = heard.is === "other" && heard.status === 413;
  return [
    judgeKeyless(`POST ${target}`, small, NOTHING_ELSE),
    ...(isTooLarge ? [mistake("size", "the proxy refuses a body of 1.5 MB with 413")] : []),
  ];
}

/** Answer of a site to paths that no service has, where it does not matter. */
const NOTHING_ELSE: Heard = { is: "other", status: 404, hasBody: false };

/** Sends bodies with the key: does the verifier read all of them, is the service sent all of them, and what comes next? */
async function sendBodiesWithKey({ ask, path, isGateway, hasEcho, key }: Look): Promise<Judgement[]> {
  const of = "proxy-bodies";
  if (key === undefined) return [unchecked(of, "calls with a body", "--key-file is not given")];
  if (!isGateway && !hasEcho) return [unchecked(of, "POST", "the service could carry it out: give --authz-echo")];
  const target = isGateway ? probes.CHAT : path;
  const post = { ...probes.get(target), method: "POST" };
  const large = await ask({ ...post, body: probes.LARGE_CALL }, key);
  const next = await ask(probes.get(path));
  const sent = isGateway ? target : (large.arrived?.[0]?.target ?? target);
  const judgements = [
    ...judgeWhole(`POST ${target}`, large, { target: sent, bodyBytes: probes.LARGE_CALL.length }),
    judgeNext(large, next),
  ];
  if (!isGateway) return judgements;
  const small = await ask({ ...post, body: probes.SMALL_CALL }, key);
  const coded = { ...post, headers: [["Content-Encoding", "gzip"]] as const, body: probes.SMALL_CALL };
  return [
    ...judgements,
    judgeModelBody("the body of a call", small),
    judgeModelBody("a body of 1.5 MB", large),
    judgeModelBody("a body", await ask(coded, key), small.heard),
  ];
}

/**
 * Makes the request that the key may make, one for a path that a gateway does not have, and others with forged headers:
 * first without the key; then, where doctor is the service, beside it.
 */
async function askWithKey(look: Look): Promise<Judgement[]> {
  const { ask, path, isGateway, key, hasEcho, unknownKey } = look;
  const of = "proxy-service";
  const unseen: (readonly [string, string])[] = [];
  for (const header of probes.strayHeaders(unknownKey)) {
    if (!isHeaderRefused(await ask(probes.get(path, [header])))) unseen.push(header);
  }
  const claimed = [...unseen.map(([name]) => name), "X-Keyplane-*"].join(", ");
  const sent = `whether the service is sent the key, or a client's ${claimed}`;
  if (key === undefined) {
    const wanted = hasEcho ? "--key-file" : "--key-file and --authz-echo";
    return [
      unchecked("proxy-keys", "whether a good key passes", "--key-file is not given"),
      unchecked(of, sent, `only the service sees that: give ${wanted}`),
    ];
  }
  const good = await ask(probes.get(path), key);
  const judgements = [judgeGood(`GET ${path}`, good)];
  if (isGateway) {
    judgements.push(judgeNotFound(`GET ${probes.NO_PATH}`, await ask(probes.get(probes.NO_PATH), key)));
  }
  if (!hasEcho) return [...judgements, unchecked(of, sent, "only the service sees that: give --authz-echo")];
  if (good.arrived?.length !== 1) return [...judgements, unchecked(of, sent, "the good request does not reach it")];
  judgements.push(...judgeSent(`GET ${path}`, good, key));
  const carried = { "X-API-Key": [], "X-Goog-Api-Key": probes.DROPPED_CLAIMS };
  for (const [carrier, others] of Object.entries(carried)) {
    const probe = probes.get(path, [[carrier, key], ...others]);
    judgements.push(...judgeSent(`a key in ${carrier}`, await ask(probe), key));
  }
  // A service of one's own may have WebSockets.
  const upgrades = isGateway ? [probes.UPGRADE] : [];
  for (const forged of [probes.FORGED_CLAIMS, ...upgrades, ...unseen.map((each) => [each])]) {
    judgements.push(...judgeSent(`GET ${path}`, await ask(probes.get(path, forged), key), key));
  }
  return judgements;
}
