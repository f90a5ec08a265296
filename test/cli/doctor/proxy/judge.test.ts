/** What doctor concludes of one answer of a proxy. */
import { expect, test } from "vitest";
import type { Arrived } from "../../../../cli/doctor/proxy/echo-service.ts";
import { proxyFindings } from "../../../../cli/doctor/proxy/findings.ts";
import type { Heard } from "../../../../cli/doctor/proxy/heard.ts";
import {
  type Judgement,
  judgeHead,
  judgeKeyless,
  judgeShown,
  type Outcome,
} from "../../../../cli/doctor/proxy/judge.ts";
import { judgeFirst } from "../../../../cli/doctor/proxy/judge-first.ts";
import { judgeSent, judgeWhole } from "../../../../cli/doctor/proxy/judge-sent.ts";
import { judgeGood, judgeModelBody, judgeNext, judgeNotFound } from "../../../../cli/doctor/proxy/judge-with-key.ts";
import { MISTAKES, proxyNamed, type RecipeProxy } from "../../../../cli/doctor/proxy/mistakes.ts";
import { CLAIMS, COLLECTIONS, FORGED, spellingsOf } from "../../../../cli/doctor/proxy/probes.ts";
import { PROBLEMS, type ProblemCode } from "../../../../server/http/problems/catalogue.ts";

const refusal = (code: ProblemCode, detail = ""): Heard => ({
  ...{ is: "refusal", status: PROBLEMS[code].status, code, detail, protects: "gateway" },
});
const success = (body = "served"): Heard => ({ is: "success", status: 200, body });
const other = (status: number, hasBody = true): Heard => ({ is: "other", status, hasBody });
const nothing: Heard = { is: "nothing", error: new Error("reset") };

/** The outcome without an echo, and with one. */
const outside = (heard: Heard): Outcome => ({ heard, arrived: undefined });
const echoed = (heard: Heard, ...arrived: Arrived[]): Outcome => ({ heard, arrived });
const arrived = (headers: Readonly<Record<string, string>> = {}, more: Partial<Arrived> = {}): Arrived => ({
  ...{ method: "GET", target: "/v1/models", bodyBytes: 0, rawHeaders: Object.entries(headers).flat() },
  ...more,
});
const CLEAN = Object.fromEntries(CLAIMS.map((name) => [name, "x"]));
const [NGINX, ENVOY] = ["nginx/1.22.1", "envoy"].map((server) => proxyNamed({ server, via: "" }));
const short = (verdict: Judgement): string => (verdict.is === "mistake" ? verdict.mistake : verdict.is);

const BODY = "This call is decided by its model, which its body names";
const MODEL = refusal("forbidden", "This key may not name this model");

test.each<[given: string, judged: Judgement, then: string]>([
  ["a refusal without a key", judgeKeyless("x", outside(refusal("unauthorized")), other(404)), "fine"],
  ["a success without a key", judgeKeyless("x", outside(success()), other(404)), "unprotected"],
  ["a success of another spelling", judgeKeyless("x", outside(success()), other(404), "spelling"), "spelling"],
  ["a page that the site has for all paths", judgeKeyless("x", outside(success()), success()), "unchecked"],
  ["another page than for all paths", judgeKeyless("x", outside(success("models")), success()), "unprotected"],
  ["a 404 of one or the other", judgeKeyless("x", outside(other(404)), other(404)), "unchecked"],
  ["a 404 of which the service was sent nothing", judgeKeyless("x", echoed(other(404)), other(404)), "fine"],
  ["a 404 that reached the service", judgeKeyless("x", echoed(other(404), arrived()), other(404)), "unprotected"],
  ["a success of another service", judgeKeyless("x", echoed(success()), other(404)), "unchecked"],
  ["a 500 in place of a refusal", judgeKeyless("x", outside(other(500)), other(404)), "answers"],
  ["no answer", judgeKeyless("x", outside(nothing), other(404)), "unchecked"],
  ["HEAD with 401", judgeHead("x", outside(other(401, false)), other(404)), "fine"],
  [
    "HEAD with 401 that reached the service",
    judgeHead("x", echoed(other(401, false), arrived()), other(404)),
    "unprotected",
  ],
  ["HEAD with 200", judgeHead("x", outside(success("")), other(404)), "unprotected"],
  ["400 for a key in the query", judgeShown("x", outside(refusal("invalid_request")), 400, "target"), "fine"],
  ["401 for a key in the query", judgeShown("x", outside(refusal("unauthorized")), 400, "target"), "target"],
  ["401 beside a claimed target", judgeShown("x", outside(refusal("unauthorized")), 400, "claim"), "claim"],
  ["200 for a key in the query", judgeShown("x", outside(success()), 400, "target"), "unprotected"],
  ["a bare 400", judgeShown("x", outside(other(400)), 400, "target"), "unchecked"],
  ["403 in place of 400", judgeShown("x", outside(other(403)), 400, "target"), "answers"],
  ["a bare 403 in place of 403", judgeShown("x", outside(other(403)), 403, "claim"), "unchecked"],
  ["a method that the proxy itself refuses", judgeShown("x", echoed(other(405)), 403, "claim"), "fine"],
  [
    "an odd method that reaches the service",
    judgeShown("x", echoed(other(405), arrived()), 403, "claim"),
    "unprotected",
  ],
  ["a word of the verifier after a body", judgeNext(outside(success()), outside(refusal("unauthorized"))), "fine"],
  [
    "what comes after a body that is too large",
    judgeNext(outside(other(413)), outside(refusal("unauthorized"))),
    "unchecked",
  ],
  ["503 after a body", judgeNext(outside(success()), outside(other(503))), "length"],
  ["what comes after a body that is refused", judgeNext(outside(MODEL), outside(refusal("unauthorized"))), "unchecked"],
  ["503 in place of 403", judgeShown("x", outside(other(503)), 403, "claim"), "answers"],
  ["200 for a good key", judgeGood("x", outside(success())), "fine"],
  ["401 for a good key", judgeGood("x", outside(refusal("unauthorized"))), "key refused"],
  ["another address", judgeGood("x", outside(refusal("address_not_allowed"))), "address"],
  ["403 for a good key", judgeGood("x", outside(refusal("forbidden"))), "call refused"],
  ["a used-up limit", judgeGood("x", outside(refusal("rate_limited"))), "unchecked"],
  ["a 404 of the service", judgeGood("x", outside(other(404))), "unchecked"],
  ["a good request that the echo got", judgeGood("x", echoed(success(), arrived())), "fine"],
  ["a good request that another service got", judgeGood("x", echoed(success())), "echo"],
  ["404 with a key", judgeNotFound("x", outside(refusal("not_found"))), "fine"],
  ["500 in place of 404", judgeNotFound("x", outside(other(500))), "answers"],
  ["a bare 404", judgeNotFound("x", outside(other(404))), "unchecked"],
  [
    "no bodies by the proxy's kind",
    judgeModelBody("x", outside(refusal("forbidden", `${BODY}, and nginx shows no body to a verifier`))),
    "fine",
  ],
  [
    "a part of a body",
    judgeModelBody(
      "x",
      outside(refusal("forbidden", `${BODY}: its operator has the proxy show the verifier all of the body`)),
    ),
    "hidden",
  ],
  ["a refused model", judgeModelBody("x", outside(MODEL)), "fine"],
  ["a call that passes", judgeModelBody("x", outside(success())), "unchecked"],
  ["a body that is too large", judgeModelBody("x", outside(other(413))), "size"],
  ["a key without the scope", judgeModelBody("x", outside(refusal("forbidden", "no scope"))), "unchecked"],
  [
    "a coding that is seen",
    judgeModelBody("x", outside(refusal("forbidden", `${BODY}: send it uncompressed.`)), MODEL),
    "fine",
  ],
  ["a coding that is not seen", judgeModelBody("x", outside(MODEL), MODEL), "coding"],
  ["a coding and a used-up limit", judgeModelBody("x", outside(refusal("rate_limited")), MODEL), "unchecked"],
])("c97: doctor judges %s", (_given, judged, then) => {
  expect(short(judged)).toBe(then);
});

test.each<[given: string, judged: readonly Judgement[], then: readonly string[]]>([
  ["all as it should be", judgeSent("x", echoed(success(), arrived(CLEAN)), "inf_key"), ["fine"]],
  [
    "the key",
    judgeSent("x", echoed(success(), arrived({ ...CLEAN, authorization: "Bearer inf_key" })), "inf_key"),
    ["key goes on"],
  ],
  [
    "the key in the target",
    judgeSent("x", echoed(success(), arrived(CLEAN, { target: "/?a=inf_key" })), "inf_key"),
    ["key goes on"],
  ],
  [
    "a claim",
    judgeSent("x", echoed(success(), arrived({ ...CLEAN, "x-keyplane-team": FORGED })), "inf_key"),
    ["forged goes on"],
  ],
  ["no claim", judgeSent("x", echoed(success(), arrived()), "inf_key"), ["unnamed"]],
  [
    "a claim twice",
    judgeSent("x", echoed(success(), arrived({ ...CLEAN, "X-Keyplane-Key": "y" })), "inf_key"),
    ["unnamed"],
  ],
  [
    "no namespace, which may be empty",
    judgeSent(
      "x",
      echoed(
        success(),
        arrived(Object.fromEntries(Object.entries(CLEAN).filter(([name]) => !name.endsWith("namespace")))),
      ),
      "inf_key",
    ),
    ["fine"],
  ],
  ["nothing, as it was refused", judgeSent("x", echoed(refusal("invalid_request")), "inf_key"), ["fine"]],
  ["nothing, as a limit is used up", judgeSent("x", echoed(refusal("rate_limited")), "inf_key"), ["unchecked"]],
  ["nothing, and no answer", judgeSent("x", echoed(nothing), "inf_key"), ["unchecked"]],
  [
    "half of a body",
    judgeWhole("x", echoed(success(), arrived({}, { bodyBytes: 5 })), { target: "/v1/models", bodyBytes: 9 }),
    ["lost"],
  ],
  [
    "another path",
    judgeWhole("x", echoed(success(), arrived({}, { target: "/x" })), { target: "/v1/models", bodyBytes: 0 }),
    ["elsewhere"],
  ],
])("c97: doctor judges that the service is sent %s", (_given, judged, then) => {
  expect(judged.map(short)).toEqual(then);
});

test.each<[string, Outcome, RecipeProxy | undefined, string | undefined]>([
  ["the verifier's 401", outside(refusal("unauthorized")), NGINX, undefined],
  ["200", outside(success()), NGINX, "proxy-keys"],
  ["a request at the service", echoed(other(404), arrived()), NGINX, "proxy-keys"],
  [
    "its own question at the service",
    echoed(success(), arrived({}, { target: "/_keyplane" }), arrived()),
    NGINX,
    "proxy-keys",
  ],
  ["no answer", outside(nothing), undefined, "proxy-connection"],
  ["a redirect", outside(other(301)), NGINX, "proxy-connection"],
  ["404", outside(other(404)), NGINX, "proxy-connection"],
  ["500", outside(other(500)), NGINX, "proxy-verifier"],
  ["401 in other words", outside(other(401)), NGINX, "proxy-answers"],
  ["an empty 403 of nginx", outside(other(403, false)), NGINX, "proxy-requests"],
  ["an empty 403 of Envoy", outside(other(403, false)), ENVOY, "proxy-verifier"],
  ["a page with 403 of nginx", outside(other(403)), NGINX, "proxy-verifier"],
])("c97: doctor judges a first answer with %s", (_what, outcome, proxy, name) => {
  const finding = judgeFirst(outcome, { url: "http://p/v1/models", proxy, location: "https://p/inf_0123456789" });
  expect(finding?.name).toBe(name);
  expect(finding?.message ?? "").not.toContain("inf_0");
});

test("c97: what was not checked is never shown as in order, nor beside what is wrong", () => {
  const judgements: Judgement[] = [
    { is: "fine", of: "proxy-keys", what: "refused" },
    { is: "mistake", mistake: "unprotected", what: "GET /a" },
    { is: "mistake", mistake: "unprotected", what: "GET /b" },
    { is: "unchecked", of: "proxy-bodies", what: "a body", because: "no key" },
    { is: "unchecked", of: "proxy-bodies", what: "a call", because: "no key" },
  ];
  expect(proxyFindings(judgements, "caddy").map(({ name, severity, message }) => [name, severity, message])).toEqual([
    ["proxy-keys", "error", "GET /a; GET /b"],
    ["proxy-bodies", "note", "not checked: a body, a call, because no key"],
  ]);
});

test("c97: a proxy without a recipe gets the remedy by nginx's example", () => {
  const [finding] = proxyFindings([{ is: "mistake", mistake: "target", what: "x" }], undefined);
  expect(finding?.action).toMatch(/^compare it with a recipe; at nginx: .*\$request_uri/);
});

test.each([
  ["nginx/1.22.1", "", NGINX],
  ["envoy", "", "envoy"],
  ["Caddy", "", "caddy"],
  ["nginx/1.22.1", "1.1 Caddy", "caddy"],
  ["cloudflare", "", undefined],
])("the proxy of Server: %s and Via: %s is %s", (server, via, name) => {
  expect(proxyNamed({ server, via })).toBe(name);
});

test("each mistake has a remedy at each proxy that has a recipe", () => {
  expect(
    Object.values(MISTAKES)
      .flatMap(({ at }) => Object.values(at))
      .filter((step) => step.length < 20),
  ).toEqual([]);
});

test("other spellings are of the path, and none is the path itself", () => {
  expect(spellingsOf("/v1/models")).toEqual([
    ...["//v1/models", "/./v1/models", "/x/../v1/models", "/v1%2fmodels", "/v1/models/", "/%761/models", "/V1/MODELS"],
  ]);
  expect(spellingsOf("/")).not.toContain("/");
});

test("a path of each collection that gateways serve is asked for", () => {
  expect(COLLECTIONS).toContain("/v1/chat/completions");
  expect(COLLECTIONS).toContain("/upload/v1beta/files");
  expect(COLLECTIONS.length).toBeLessThanOrEqual(20);
});
