/** Requests by which doctor finds mistakes of a proxy. None has a body that a service could carry out. */
import { SERVED_PATHS } from "../../../server/gateway/classify.ts";
import type { Probe } from "./ask-proxy.ts";

export type ProbeHeaders = Probe["headers"];

/** Text in each value that a client claims. */
export const FORGED = "keyplane-doctor-forged";
/** Path that no service has, at a gateway and elsewhere. */
export const NO_PATH = "/keyplane-doctor/none";
export const CHAT = "/v1/chat/completions";
/** Larger than the bodies that nginx takes by default. */
const LARGE = 1_500_000;
const NO_MODEL = "keyplane-doctor-none";

export const get = (target: string, headers: ProbeHeaders = []): Probe => ({ method: "GET", target, headers });

/** Calls of a model that no provider has, without a message. */
export const SMALL_CALL = JSON.stringify({ model: NO_MODEL, messages: [] });
export const LARGE_CALL = JSON.stringify({ x: "x".repeat(LARGE), model: NO_MODEL, messages: [] });

/** Other spellings of a path, which a server may take for the path itself. */
export function spellingsOf(path: string): string[] {
  const last = path.lastIndexOf("/");
  const [, letter = ""] = /^\/([a-z])/i.exec(path) ?? [];
  const encoded = letter === "" ? path : `/%${letter.charCodeAt(0).toString(16)}${path.slice(2)}`;
  const spelt = [
    `/${path}`,
    `/.${path}`,
    `/x/..${path}`,
    `${path.slice(0, last)}%2f${path.slice(last + 1)}`,
    `${path}/`,
    encoded,
    path.toUpperCase(),
  ];
  return [...new Set(spelt)].filter((each) => each !== path && each.startsWith("/"));
}

/** A path of each collection that gateways serve: a proxy may have locations of their own for them. */
export const COLLECTIONS: readonly string[] = [
  ...new Map(
    SERVED_PATHS.filter(({ path }) => !path.includes("{")).map(({ path }) => {
      const parts = path.split("/");
      return [parts.slice(0, path.startsWith("upload/") ? 3 : 2).join("/"), `/${path}`];
    }),
  ).values(),
];

/** Headers in which a client claims another target or method, or hides a key; the verifier refuses each that it sees. */
export function strayHeaders(unknownKey: string): ProbeHeaders {
  return [
    ["Cookie", `a=${FORGED}; key=${unknownKey}`],
    ["X-Original-URL", `/${FORGED}`],
    ["X-Original-URI", `/${FORGED}`],
    ["X-Original-Method", FORGED],
    ["X-Forwarded-Uri", `/${FORGED}`],
    ["X-Forwarded-Method", FORGED],
    ["X-HTTP-Method-Override", FORGED],
    ["X_Keyplane_Team", FORGED],
  ];
}

/** Headers by which the verifier says whose a key is. */
export const CLAIMS = ["key", "team", "namespace", "scopes", "operation"].map((each) => `x-keyplane-${each}`);
export const FORGED_CLAIMS: ProbeHeaders = CLAIMS.map((name) => [name, FORGED]);
/** Claims that a client lists as headers of its connection alone, which proxies drop. */
export const DROPPED_CLAIMS: ProbeHeaders = [["Connection", "close, X-Keyplane-Team, X-Keyplane-Key"]];
/** Request for a tunnel, about whose content the proxy asks nothing more. */
export const UPGRADE: ProbeHeaders = [
  ["Connection", "Upgrade"],
  ["Upgrade", "websocket"],
];

/** Headers in which the verifier is shown a target or a method by some proxy. */
export const TARGET_PLACES = ["X-Original-URI", "X-Forwarded-Uri"];
export const METHOD_PLACES = ["X-Original-Method", "X-Forwarded-Method"];
/** Safe method with a character that the verifier takes in none: it refuses the request as not shown. */
export const ODD_METHOD = "M-SEARCH";
