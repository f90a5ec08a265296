import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Spec } from "../../../../domain/kinds/kinds.ts";
import { TOKEN_FIGURES, type TokenFigures } from "../../../../domain/usage/token-count.ts";
import { appendAudit } from "../../../../store/audit/audit.ts";
import { appendRefusals } from "../../../../store/audit/refusals.ts";
import { activateVersion } from "../../../../store/keys/lifecycle/key-versions.ts";
import { recordKeyDeclaration } from "../../../../store/keys/rows/key-declarations.ts";
import { addRequestCounts } from "../../../../store/keys/uses/request-counts.ts";
import { addTokenCounts } from "../../../../store/keys/uses/token-counts.ts";
import { recordUsage } from "../../../../store/keys/uses/usage.ts";
import { until } from "../../../env/until.ts";
import { makeTeam, reserveKey, run, unique } from "../../../store/fixtures.ts";
import { ISSUER, type Pages, startPages } from "../pages.ts";

let pages: Pages;
let declared: { id: string; name: string };
/** Declared too, and revoked by no test. */
let other: { id: string };
let shown: { id: string };
/** Of one version, which no test changes. */
let kept: Made;
/** With an old version that works for an hour. */
let rotated: Made;
/** With an old version that has ended at once. */
let replaced: Made;

type Made = { readonly id: string; readonly name: string; readonly secret: string };

beforeAll(async () => {
  pages = await startPages();
  await pages.send("POST", "/teams", { name: "payments", spec: { members: [{ role: "admin", group: "g" }] } });
  await pages.send("POST", "/libraries", { name: "handbook", team: "payments", spec: {} });
  const team = await makeTeam(pages.store);
  declared = (await reserveKey(pages.store, team)).key;
  other = (await reserveKey(pages.store, team)).key;
  const made = await reserveKey(pages.store, team);
  await run(pages.store, (tx) => activateVersion(tx, { keyId: made.key.id, number: 1, overlapMs: 0 }));
  shown = made.key;
  kept = await makeKey();
  [rotated, replaced] = [await makeKey(), await makeKey()];
  await pages.send("POST", `/keys/${rotated.id}/versions`, { overlap: "1h" });
  await pages.send("POST", `/keys/${replaced.id}/versions`, { overlap: "0s" });
});
afterAll(() => pages.close());

async function makeKey(spec: object = { preset: "MCPReadOnly" }): Promise<Made> {
  return (await pages.send("POST", "/keys", { name: unique("key"), team: "payments", spec })).body;
}

/** What a server writes of requests with a version, as it has answered them. */
async function useVersion(keyId: string, version: number, requests = 1): Promise<void> {
  const at = Date.now();
  await recordUsage(pages.store, [{ keyId, version, at, address: "192.0.2.7", userAgent: "nightly/2.1" }]);
  const slot = Math.floor(at / 300_000) * 300_000;
  if (requests > 0)
    await addRequestCounts(pages.store, [{ keyId, slot, scope: "memory:read", count: requests }], () => {});
}

/** The fields of the form on a page, as a browser sends them where nothing is changed. */
function formIn(text: string): Record<string, string> {
  const inputs = [...text.matchAll(/<input(?! type="checkbox")[^>]*? name="([^"]+)"[^>]*? value="([^"]*)"/g)];
  const hidden = [...text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const selects = [...text.matchAll(/<select[^>]* name="([^"]+)"[^>]*>.*?<\/select>/gs)].map(
    ([all, name = ""]) => ["", name, /value="([^"]*)"[^>]*selected/.exec(all)?.[1] ?? ""] as const,
  );
  return Object.fromEntries(
    [...inputs, ...hidden, ...selects].map(([, name, value = ""]) => [name, value.replaceAll("&quot;", '"')]),
  );
}

async function openForm(path: string): Promise<Record<string, string>> {
  const { status, text } = await pages.get(path);
  expect(status).toBe(200);
  return formIn(text);
}

describe("a key's page", () => {
  test("shows its versions, its history and nothing that authenticates", async () => {
    const { id, name, secret } = rotated;
    const { text } = await pages.get(`/keys/${id}`);
    expect(text).toContain(`<h1>${name}</h1>`);
    expect(text).toContain("Version 2 came into use");
    expect(text.match(/<rect class="span/g)).toHaveLength(2);
    expect(text).not.toContain(secret);
  });

  test("names in its history who has changed it, also where their issuer has given an empty name", async () => {
    const members = [{ role: "member", subject: "nina" }];
    await pages.send("POST", "/teams", { name: "nameless", spec: { members } });
    const key = { name: "reader", team: "nameless", spec: { preset: "MCPReadOnly" } };
    const { id } = (await pages.send("POST", "/keys", key)).body;
    const nina = await pages.as("nina", "");
    expect((await nina.post(`/keys/${id}/state`, { state: "Suspended" })).status).toBe(303);
    expect((await nina.get(`/keys/${id}`)).text).toContain(`${ISSUER}#nina`);
  });

  test("shows a declared key as it is declared, and when its interval asks for the next version", async () => {
    const yaml = async () => (await pages.get(`/keys/${shown.id}?tab=yaml`)).text;
    expect(await yaml()).toContain("its controller has not recorded its declaration yet");
    const spec: Spec<"PlatformKey"> = {
      ...{ source: { type: "Generate" }, preset: "MCPReadOnly", rotation: { interval: "720h" }, state: "Active" },
      ...{
        secret: { dataKey: "api-key", creationPolicy: "Owner", onLost: "Rotate", onTampered: "Rotate" },
        restartTargets: [],
        deletionPolicy: "Retain",
        deletionProtection: false,
      },
    };
    await recordKeyDeclaration(pages.store.db, shown.id, { ownerUid: "uid", generation: 1, spec, labels: {} });
    const text = await yaml();
    const manifest = /<pre id="manifest"[^>]*>(.*?)<\/pre>/s.exec(text)?.[1] ?? expect.fail("there is no manifest");
    const withoutDefaults = { preset: "MCPReadOnly", rotation: { interval: "720h" }, deletionPolicy: "Retain" };
    expect(parse(manifest).spec).toEqual(withoutDefaults);
    expect(text).not.toContain("Not all of it is shown");
    expect((await pages.get(`/keys/${shown.id}`)).text).toMatch(/<dt>Next rotation<\/dt><dd>.*\(in \d+ days\)/);
  });

  test("draws a version that goes on beyond the time line over its edge, and one that ends within it to its end", async () => {
    const { text } = await pages.get(`/keys/${rotated.id}`);
    const drawn = [...text.matchAll(/class="span [^>]* x="(\d+)"[^>]* width="(\d+)"/g)];
    const [old = 0, present = 0] = drawn.map(([, x, width]) => Number(x) + Number(width));
    expect([old <= 640, present > 640]).toEqual([true, true]);
  });

  test("says when a version ended that a rotation ended at once", async () => {
    const { id } = replaced;
    const { versions } = (await pages.send("GET", `/keys/${id}`)).body;
    expect(versions[1]).toMatchObject({ state: "retired", retiresAt: versions[0].activatedAt });
    expect((await pages.get(`/keys/${id}`)).text.match(/No end/g)).toHaveLength(1);
  });

  test("shows what it used of each model within the last day, and what of the answers reported nothing", async () => {
    const { id } = await makeKey();
    expect((await pages.get(`/keys/${id}?tab=usage`)).text).toContain("Last day: no requests.");
    const slot = Math.floor(Date.now() / 300_000) * 300_000;
    const none = Object.fromEntries(TOKEN_FIGURES.map((figure) => [figure, 0])) as TokenFigures;
    const figures = {
      ...none,
      calls: 1_200,
      cut: 3,
      unread: 40,
      input: 1_234_567,
      cache_write_5m: 5,
      cache_write_1h: 6,
    };
    const count = { keyId: id, slot, gatewayId: "gw_a", routeId: "", teamId: "team", model: "gpt-<b>", figures };
    const old = { ...count, slot: slot - 25 * 3_600_000, model: "of-yesterday" };
    await addTokenCounts(pages.store, [count, old], () => {});
    const { text } = await pages.get(`/keys/${id}?tab=usage`);
    const panel = text
      .split('id="usage"')[1]
      ?.split("</section>")[0]
      ?.replace(/<[^>]*>/g, " ");
    expect(panel).toMatch(/gpt-&lt;b&gt;\s+1\.2K\s+1\.2M\s+1\.2M\s+0\s/);
    expect(panel).toContain(
      "Of the answers 3 ended early, and count what was seen; 40 came in a coding or media type that is not read.",
    );
    expect(panel).not.toContain("of-yesterday");
  });

  test("says that a version has leaked, as the list does, until it has ended", async () => {
    const { id, name, secret } = await makeKey();
    const row = async () => (await pages.get(`/keys?q=${name}`)).text.split("<tbody")[1] ?? "";
    expect(await row()).not.toContain(">Leaked<");
    await pages.send("POST", "/leaks", { leaks: [{ key: secret }] });
    const { text } = await pages.get(`/keys/${id}`);
    expect(text).toContain("<strong>Leaked.</strong> Version 1");
    expect(text).toContain("Version 1 was reported as leaked");
    expect(await row()).toContain(">Leaked<");
    await pages.send("POST", `/keys/${id}/versions`, { overlap: "1h" });
    expect((await pages.get(`/keys/${id}`)).text).toContain("until its overlap ends");
    await pages.send("POST", `/keys/${id}/versions`, { overlap: "0s" });
    expect((await pages.get(`/keys/${id}`)).text).not.toContain("<strong>Leaked.</strong>");
    expect(await row()).not.toContain(">Leaked<");
  });

  test("answers its readers' questions in their order", async () => {
    const { id } = rotated;
    const { text } = await pages.get(`/keys/${id}`);
    const order = [
      "<h1>",
      ">Active<",
      ">Rotate<",
      ">Revoke<",
      ...['aria-current="page">Overview<', "?tab=usage", "?tab=access", "?tab=yaml"],
      "<dt>Prefix",
      "<dt>Scopes",
      "<dt>Bound to",
      "<dt>Last use",
    ];
    order.push("<dt>Expires", ">Recent errors<", ">Versions<", "Old versions that still work");
    order.push(">Details<", `<code>${id}</code>`, ">History<");
    const places = order.map((part) => text.indexOf(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect((await pages.get(`/keys/${id}?tab=access`)).text).toContain("Read and search atoms of the memory");
    expect(text).not.toContain('class="button primary"');
    expect(text).toMatch(/Version 1 \(<code>[^<]+<\/code>\) works until/);
  });

  test("says which requests with it were refused within the last day, by cause", async () => {
    const { id } = await makeKey();
    expect((await pages.get(`/keys/${id}`)).text).toContain("None within the last day.</p></section>");
    const refusal = { keyId: id, teamId: null, actor: "replica:a" };
    const of = (reason: string, count: number, at: number) => ({ ...refusal, at, detail: { reason, count } });
    const now = Date.now();
    await appendRefusals(pages.store, [
      of("scope_missing", 2, now - 1_000),
      of("scope_missing", 3, now - 2_000),
      of("rate_limited", 1_500, now - 3_000),
      of("revoked_long_ago", 9, now - 25 * 3_600_000),
    ]);
    const panel = (await pages.get(`/keys/${id}`)).text.split('id="refused"')[1]?.split("</section>")[0] ?? "";
    const words = panel.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
    expect(words).toMatch(
      /Rate limited Until .* at the latest There is room again within a minute.* 1,500 .* Scope missing Add the scope.* 5 /,
    );
    expect(words).not.toContain("long ago");
    const history = (await pages.get(`/keys/${id}`)).text.split('id="history"')[1] ?? "";
    expect(history).toContain("Request refused: scope missing");
  });

  test("goes on to what happened earlier", async () => {
    const { id } = await makeKey();
    const later = { at: null, kind: "key.policy_updated", keyId: id, by: { actor: "console" }, detail: {} };
    await appendAudit(pages.store.db, Array(22).fill(later));
    const { text } = await pages.get(`/keys/${id}`);
    const earlier = /href="\/dashboard(\/keys\/[^"]+\?before=\d+)"/.exec(text)?.[1] ?? "";
    expect(text).not.toContain("Version 1 was minted");
    expect((await pages.get(earlier)).text).toContain("Version 1 was minted");
  });

  test("says of a declared key where it is changed, and by what", async () => {
    const { text } = await pages.get(`/keys/${declared.id}?tab=yaml`);
    expect(text).toContain("kind: PlatformKey");
    expect(text).toContain(`name: ${declared.name}`);
    expect(text).not.toContain(`/keys/${declared.id}/edit`);
    expect((await pages.get(`/keys/${declared.id}/edit`)).status).toBe(409);
  });

  test.for(["/keys/key_none", "/keys/nothing", "/keys/key_none/revoke", "/keys/key_none/edit"])(
    "is a page that says so where there is no such key: %s",
    async (path) => {
      const { status, text } = await pages.get(path);
      expect([status, text.match(/<h1/g)?.length]).toEqual([404, 1]);
    },
  );
});

describe("revoking a key by its page", () => {
  test("ends it everywhere, wherever it is declared, and shows the receipt as it comes in", async () => {
    const made = await makeKey();
    // The second is longer than what is kept, which ends with a whole character.
    const reasons = ["found in a log", `a${"🔑".repeat(500)}`];
    for (const [i, { id, name }] of [made, declared].entries()) {
      const form = await openForm(`/keys/${id}/revoke`);
      const done = await pages.post(`/keys/${id}/revoke`, { ...form, reason: reasons[i] ?? "", confirm: name });
      expect([done.status, done.headers.get("location")]).toEqual([303, `/dashboard/keys/${id}`]);
      await until("the receipt is confirmed", async () => {
        const { text } = await pages.get(`/keys/${id}`);
        const isWaiting = text.includes('hx-trigger="every 1s"');
        expect(text).toContain(isWaiting ? "Waiting for every replica" : "Revoked everywhere");
        return !isWaiting;
      });
      expect((await pages.get(`/keys/${id}`)).text).toContain(reasons[i]?.slice(0, 999));
    }
    expect(await pages.tryKey(made.secret)).toBe(401);
  });

  test.for([
    ["nothing", () => ""],
    ["another name", () => "another"],
    ["a part of the name", (name: string) => name.slice(0, -1)],
    ["the name in capital letters", (name: string) => name.toUpperCase()],
  ] as const)("changes nothing where the name is confirmed by %s, and says so at the field", async ([, confirm]) => {
    const { id, name, secret } = kept;
    const form = { ...(await openForm(`/keys/${id}/revoke`)), reason: "found in a log", confirm: confirm(name) };
    const refused = await pages.post(`/keys/${id}/revoke`, form);
    expect(refused.status).toBe(422);
    expect(refused.text).toContain("Nothing was changed");
    expect(refused.text).toMatch(/<input id="confirm"[^>]*aria-invalid="true"/);
    expect(refused.text).toContain(`<p class="error" id="confirm-error">Name of the key: type ${name}.</p>`);
    expect(formIn(refused.text)).toMatchObject({ reason: "found in a log" });
    expect((await pages.send("GET", `/keys/${id}`)).body.state).toBe("active");
    expect(await pages.tryKey(secret)).toBe(200);
  });

  test("repeats no key that is typed in place of its name", async () => {
    const { id, secret } = kept;
    const refused = await pages.post(`/keys/${id}/revoke`, {
      ...(await openForm(`/keys/${id}/revoke`)),
      confirm: secret,
    });
    expect([refused.status, refused.text.includes(secret)]).toEqual([422, false]);
  });

  test("says what it would cut off: requests of the last hour by scope, and the last use", async () => {
    const { id } = await makeKey();
    const unused = (await pages.get(`/keys/${id}/revoke`)).text;
    expect(unused).toContain("No request within the last hour is known");
    expect(unused).toContain("It was never used");
    await useVersion(id, 1, 0);
    expect((await pages.get(`/keys/${id}/revoke`)).text).toContain("Its latest requests are not counted yet");
    await useVersion(id, 1, 3);
    const used = (await pages.get(`/keys/${id}/revoke`)).text;
    expect(used).toContain("Version 1, last used");
    expect(used).toContain("<li>3 by <code>memory:read</code></li>");
  });

  test("shows the requests of the last hour and day by scope on the key's page", async () => {
    const { id } = await makeKey();
    expect((await pages.get(`/keys/${id}?tab=usage`)).text).toContain("Last day: no requests.");
    await useVersion(id, 1);
    expect((await pages.get(`/keys/${id}?tab=usage`)).text).toContain(
      "Requests, last day, every hour: 1 by memory:read",
    );
    expect((await pages.get(`/keys/${id}?usage=hour`)).text).toContain("Requests, last hour, every 5 minutes: 1 by");
  });

  test("shows requests, tokens and money in one section, in this order, each once, and who uses old versions beside these", async () => {
    const { id } = await makeKey();
    await pages.send("POST", `/keys/${id}/versions`, { overlap: "1h" });
    const slot = Math.floor(Date.now() / 300_000) * 300_000;
    const figures = Object.fromEntries(TOKEN_FIGURES.map((figure) => [figure, 7])) as TokenFigures;
    const count = { keyId: id, slot, gatewayId: "gw_a", routeId: "", teamId: "team", model: "small", figures };
    await addTokenCounts(pages.store, [count], () => {});
    await addRequestCounts(pages.store, [{ keyId: id, slot, scope: "memory:read", count: 3 }], () => {});
    const use = { keyId: id, version: 1, at: Date.now(), address: "192.0.2.7", userAgent: "nightly/2.1" };
    await recordUsage(pages.store, [use]);
    const { text } = await pages.get(`/keys/${id}?tab=usage`);
    const [, section = ""] = /<section[^>]* id="usage"[^>]*>(.*?)<\/section>/s.exec(text) ?? [];
    const order = [">Usage</h2>", ">Requests<", ">Tokens<", "By model", "By time", "As of some ten seconds ago"];
    expect(order.filter((part) => !section.includes(part))).toEqual([]);
    const places = order.map((part) => section.indexOf(part));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(text.match(/<strong>Requests<\/strong>/g)).toHaveLength(1);
    expect((await pages.get(`/keys/${id}`)).text).toMatch(
      /id="versions".*Old versions that still work.*Version 1 \(.*works until.*; last used.* from 192\.0\.2\.7 by nightly\/2\.1/s,
    );
  });

  test("takes no reason that holds a key, and does not repeat it", async () => {
    const { id, name, secret } = kept;
    const form = await openForm(`/keys/${id}/revoke`);
    const refused = await pages.post(`/keys/${id}/revoke`, { ...form, reason: `it was ${secret}`, confirm: name });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain("Nothing was changed");
    expect(refused.text).not.toContain(secret);
    expect(await pages.tryKey(secret)).toBe(200);
  });
});

test("Every form that is sent without a body is refused, and changes nothing", async () => {
  const { id } = kept;
  for (const path of ["/keys/new", `/keys/${id}/rotate`, `/keys/${id}/edit`]) {
    const { status } = await pages.postNothing(path);
    expect([path, Math.floor(status / 100)]).toEqual([path, 4]);
  }
  expect((await pages.send("GET", `/keys/${id}`)).body.versions).toHaveLength(1);
});

describe("rotating a key by its page", () => {
  test("shows below the form which versions work, until when, and when each was last used", async () => {
    const { id, secret } = await makeKey();
    const { body } = await pages.send("POST", `/keys/${id}/versions`, { overlap: "24h" });
    await useVersion(id, 1);
    const { text } = await pages.get(`/keys/${id}/rotate`);
    const [form = "", below = ""] = text.split("What works now");
    expect(form).toContain(">Rotate</button>");
    const [newer = "", older = "", ...others] = below.split("<tr><td").slice(1);
    expect(others).toEqual([]);
    expect(newer).toMatch(/^[^>]*>2<.*No end.*no use of it is known/s);
    expect(older).toMatch(/^[^>]*>1<.*datetime=.*last used/s);
    expect(older).toContain(`datetime="${body.versions.at(-1).retiresAt}"`);
    expect(older).toContain(secret.slice(0, 12));
    expect(below).not.toContain(secret);
  });

  test("says on the key's page that it is outdated, until its newest version is used or the others have ended", async () => {
    const { id } = await makeKey();
    const isOutdated = async () => (await pages.get(`/keys/${id}`)).text.includes("<strong>Outdated.</strong>");
    expect(await isOutdated()).toBe(false);
    await pages.send("POST", `/keys/${id}/versions`, { overlap: "24h" });
    const { text } = await pages.get(`/keys/${id}`);
    expect(text).toContain("<strong>Outdated.</strong> Version 2 works, and no use of it is known.");
    expect(text).toMatch(/ Version 1 works until <time.*: have what uses this key read version 2 before then\.</);
    await useVersion(id, 2);
    expect(await isOutdated()).toBe(false);
    await pages.send("POST", `/keys/${id}/versions`, { overlap: "24h" });
    expect(await isOutdated()).toBe(true);
    await pages.send("POST", `/keys/${id}/versions`, { overlap: "0s" });
    expect(await isOutdated()).toBe(false);
  });

  test("shows none of the versions that have ended", async () => {
    const { id, secret } = replaced;
    const [, below = ""] = (await pages.get(`/keys/${id}/rotate`)).text.split("What works now");
    expect([below.split('<td data-label="Version"').length, below.includes(secret.slice(0, 12))]).toEqual([2, false]);
  });

  test("shows the new version, and the old one works on", async () => {
    const { id, secret } = await makeKey();
    const form = await openForm(`/keys/${id}/rotate`);
    const first = await pages.post(`/keys/${id}/rotate`, form);
    const shown = /id="secret"[^>]*>([^<]+)</.exec(first.text)?.[1] ?? "";
    expect([first.status, await pages.tryKey(shown), await pages.tryKey(secret)]).toEqual([201, 200, 200]);
    expect((await pages.send("GET", `/keys/${id}`)).body.versions).toHaveLength(2);
  });

  test("says why there can be no further version yet, and keeps the overlap that was chosen", async () => {
    const { id } = await makeKey();
    for (let i = 0; i < 4; i++) await pages.send("POST", `/keys/${id}/versions`);
    const form = { ...(await openForm(`/keys/${id}/rotate`)), overlap: "1h" };
    const { status, text } = await pages.post(`/keys/${id}/rotate`, form);
    expect(status).toBe(409);
    expect(text).toContain("Nothing was changed");
    expect(formIn(text)).toEqual(form);
  });
});

describe("suspending a key by its page", () => {
  test("refuses it until it is resumed, and changes nothing else of it", async () => {
    const { id, secret } = await makeKey({ preset: "MCPReadOnly", expiresAfter: "72h", rateLimit: { concurrent: 5 } });
    const state = (value: string) => pages.post(`/keys/${id}/state`, { state: value });
    const before = (await pages.send("GET", `/keys/${id}`)).body.spec;
    expect((await state("Suspended")).status).toBe(303);
    await until("the key is refused", async () => (await pages.tryKey(secret)) === 401);
    const page = (await pages.get(`/keys/${id}`)).text;
    expect(page).toContain("Every request with it is refused");
    expect(page).toContain('<button class="button primary">Resume</button>');
    expect(page).toContain(`<a class="button" href="/dashboard/keys/${id}/rotate">Rotate</a>`);
    expect((await state("Active")).status).toBe(303);
    await until("the key is let through", async () => (await pages.tryKey(secret)) === 200);
    expect((await pages.send("GET", `/keys/${id}`)).body.spec).toEqual({ ...before, state: "Active" });
  });

  test("is not offered for a declared key, whose page says what to change, and is refused for it", async () => {
    const { text } = await pages.get(`/keys/${other.id}?tab=yaml`);
    expect(text).toContain("<code>spec.state: Suspended</code>");
    expect(text).not.toContain(">Suspend</button>");
    expect((await pages.post(`/keys/${other.id}/state`, { state: "Suspended" })).status).toBe(409);
  });

  test("takes no state but those two", async () => {
    const { id, secret } = kept;
    expect((await pages.post(`/keys/${id}/state`, { state: "Revoked" })).status).toBe(400);
    expect(await pages.tryKey(secret)).toBe(200);
  });
});

test("a key's page shows the moments in sentences of the API as it shows others", async () => {
  const { id } = kept;
  expect((await pages.get(`/keys/${id}?tab=access`)).text).toContain('The key was made at <time datetime="');
});

describe("editing a key", () => {
  test("changes what is said, keeps what the form does not show, and needs no new secret", async () => {
    const { id, secret } = await makeKey({
      ...{ preset: "MCPReadOnly", expiresAfter: "72h", state: "Active", allowedCIDRs: ["127.0.0.0/8"] },
      budgets: [{ tokens: 9_000, period: "Total" }],
    });
    expect((await pages.get(`/keys/${id}?tab=access`)).text).toContain("<b>0 of 9,000 tokens</b> in all");
    const form = { ...(await openForm(`/keys/${id}/edit`)), displayName: "Renamed", requestsPerMinute: "60" };
    const done = await pages.post(`/keys/${id}/edit`, { ...form, defaultLibrary: "handbook" });
    expect(done.status).toBe(303);
    const { spec } = (await pages.send("GET", `/keys/${id}`)).body;
    expect(spec).toMatchObject({
      ...{ displayName: "Renamed", preset: "MCPReadOnly", expiresAfter: "72h", allowedCIDRs: ["127.0.0.0/8"] },
      ...{ rateLimit: { requestsPerMinute: 60 }, mcpDefaultLibraryRef: { name: "handbook" } },
      budgets: [{ tokens: 9_000, period: "Total", timeZone: "UTC", onExhausted: "Refuse" }],
    });
    expect(await pages.tryKey(secret)).toBe(200);
  });

  test("says of a key whose versions have ends of their own when these are, and asks for no other end", async () => {
    const { id } = await makeKey({ preset: "MCPReadOnly", expiresAfter: "72h" });
    const { text } = await pages.get(`/keys/${id}/edit`);
    expect(text).toContain("Each version 3 days after it was made");
    expect(text).not.toContain('name="expires"');
    expect((await pages.get(`/keys/${kept.id}/edit`)).text).toContain('name="expires"');
  });

  test("in two tabs gives the second a notice, which loses nothing that was typed, and may then save", async () => {
    const { id } = await makeKey();
    const [first, second] = [await openForm(`/keys/${id}/edit`), await openForm(`/keys/${id}/edit`)];
    expect((await pages.post(`/keys/${id}/edit`, { ...first, displayName: "By the first" })).status).toBe(303);
    const conflict = await pages.post(`/keys/${id}/edit`, { ...second, displayName: "By the second" });
    expect(conflict.status).toBe(412);
    expect(conflict.text).toContain("This key has been changed since you opened it");
    expect(conflict.text).toContain("By the first");
    expect(formIn(conflict.text).displayName).toBe("By the second");
    expect((await pages.send("GET", `/keys/${id}`)).body.displayName).toBe("By the first");
    expect((await pages.post(`/keys/${id}/edit`, formIn(conflict.text))).status).toBe(303);
    expect((await pages.send("GET", `/keys/${id}`)).body.displayName).toBe("By the second");
  });

  test("twice in a row leads to the key, and blames no other person", async () => {
    const { id } = await makeKey();
    const form = { ...(await openForm(`/keys/${id}/edit`)), displayName: "Sent twice" };
    for (const _ of [1, 2]) expect((await pages.post(`/keys/${id}/edit`, form)).status).toBe(303);
    expect((await pages.send("GET", `/keys/${id}`)).body.displayName).toBe("Sent twice");
  });

  test("that nothing is changed of keeps its end to the millisecond", async () => {
    const expiresAt = "2126-01-02T03:04:05.678Z";
    const { id } = await makeKey({ preset: "MCPReadOnly", expiresAt });
    expect((await pages.post(`/keys/${id}/edit`, await openForm(`/keys/${id}/edit`))).status).toBe(303);
    expect((await pages.send("GET", `/keys/${id}`)).body.spec.expiresAt).toBe(expiresAt);
  });

  test("keeps a library that the form does not offer under the name that the key has for it", async () => {
    await sql`insert into team_namespaces (cluster, namespace, team_id)
      select 'api', 'pay-dev', id from teams where name = 'payments'`.execute(pages.store.db);
    const rules = await pages.send("POST", "/libraries", {
      ...{ name: "rules", team: "payments", namespace: "pay-dev", spec: {} },
    });
    expect(rules.status).toBe(201);
    const libraryAccess = { mode: "Restricted", libraryRefs: [{ name: "rules" }] };
    const { id } = await makeKey({ preset: "MCPReadOnly", libraryAccess });
    const { text } = await pages.get(`/keys/${id}/edit`);
    const chosen = [...text.matchAll(/name="libraries" value="([^"]+)"[^>]* checked/g)].map(([, ref = ""]) => ref);
    const form = new URLSearchParams(formIn(text));
    for (const ref of chosen) form.append("libraries", ref);
    expect((await pages.post(`/keys/${id}/edit`, form)).status).toBe(303);
    expect((await pages.send("GET", `/keys/${id}`)).body.spec).toMatchObject({ libraryAccess });
  });

  test("says beside a limit that it is none", async () => {
    const { id } = kept;
    const form = { ...(await openForm(`/keys/${id}/edit`)), requestsPerMinute: "many" };
    const { status, text } = await pages.post(`/keys/${id}/edit`, form);
    expect(status).toBe(422);
    expect(text).toContain('id="requestsPerMinute-error"');
    expect(formIn(text).requestsPerMinute).toBe("many");
  });
});
