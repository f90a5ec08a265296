import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { mintKey } from "../../../domain/key/secret/key-format.ts";
import { createGithubVerifier, GithubUnavailableError } from "../../../server/leaks/github.ts";
import { until } from "../../env/until.ts";
import { auditOfKey } from "../../store/questions.ts";
import {
  type GithubKey,
  type Installation,
  makeGithubKey,
  sha256,
  signedBy,
  startGithub,
  startInstallation,
} from "./installation.ts";

const TYPE = "keyplane_api_key";
const matchesOf = (tokens: readonly string[], url = "https://github.com/octocat/hello/blob/main/a.txt") =>
  JSON.stringify(tokens.map((token) => ({ token, type: TYPE, url, source: "content" })));

describe("a report that GitHub has signed", () => {
  let installation: Installation;
  const key = makeGithubKey("first");
  beforeAll(async () => {
    installation = await startInstallation();
    installation.github.shown = [key.shown];
  });
  afterAll(() => installation.close());

  async function post(body: string, by: GithubKey = key, signed = body) {
    const { status, text } = await installation.post(body, signedBy(by, signed));
    return { status, body: JSON.parse(text) };
  }

  test("is answered with what is a key of ours, whosever, and acted on as its team says", async () => {
    const [revoked, alerted] = [await installation.makeKey("theirs"), await installation.makeKey("alerting")];
    const tokens = [revoked.secret, mintKey(randomBytes), alerted.secret, "inf_x", ""];
    const url = `https://me:secret@github.com/octocat/${revoked.secret}.txt?token=secret#${revoked.secret}`;
    const labels = ["true_positive", "false_positive", "true_positive", "false_positive", "false_positive"];
    const feedback = tokens.map((token, i) => ({ token_hash: sha256(token), token_type: TYPE, label: labels[i] }));
    expect(await post(matchesOf(tokens, url))).toEqual({ status: 200, body: feedback });
    await until("the one is refused", async () => (await installation.api.tryKey(revoked.secret)) === 401);
    expect(await installation.api.tryKey(alerted.secret)).toBe(200);
    const detail = { version: 1, reporter: "github", url: "https://github.com/octocat/inf_...", address: "127.0.0.1" };
    for (const { id, prefix } of [revoked, alerted]) {
      const leaks = (await auditOfKey(installation.store.db, id)).filter(({ kind }) => kind === "key.leaked");
      expect(leaks).toMatchObject([{ actor: "github" }]);
      expect(leaks[0]?.detail).toEqual({ ...detail, prefix });
    }
  });

  test("b100: changes nothing more when it is sent again", async () => {
    const { id, secret } = await installation.makeKey("alerting");
    const first = await post(matchesOf([secret]));
    const events = await auditOfKey(installation.store.db, id);
    expect(await post(matchesOf([secret]))).toEqual(first);
    expect(await auditOfKey(installation.store.db, id)).toEqual(events);
  });

  test("is no report of GitHub's where another has signed, or something else was signed", async () => {
    const forged = matchesOf([mintKey(randomBytes)]);
    const received = { status: 202, body: { status: "received" } };
    expect(await post(forged, makeGithubKey(key.id))).toEqual(received);
    expect(await post(forged, makeGithubKey("other"))).toEqual(received);
    expect(await post(forged, key, `${forged} `)).toEqual(received);
    expect((await installation.post(forged, { "Github-Public-Key-Identifier": key.id })).status).toBe(202);
  });

  test("is refused where it is in no known format, so that GitHub notices", async () => {
    for (const body of ['{"leaks":[]}', "[1]", "[", '[{"url":"https://github.com"}]']) {
      expect(await post(body)).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    }
  });

  test("is refused where it is too large, so that GitHub notices", async () => {
    const url = `https://github.com/octocat/${"a".repeat(2_000)}`;
    const body = matchesOf(
      Array.from({ length: 600 }, () => mintKey(randomBytes)),
      url,
    );
    expect(await post(body)).toMatchObject({ status: 413, body: { code: "payload_too_large" } });
  });
});

describe("GitHub's keys", () => {
  let github: Awaited<ReturnType<typeof startGithub>>;
  let now = 0;
  const body = Buffer.from("[]");
  beforeAll(async () => {
    github = await startGithub();
  });
  afterAll(() => github.close());
  afterEach(() => {
    github.away = false;
    github.asked = 0;
  });

  const judge = (shown: object[]) => {
    github.shown = shown as typeof github.shown;
    const isByGithub = createGithubVerifier(github.url, () => now);
    return (by: GithubKey) => {
      const { "Github-Public-Key-Signature": signature = "" } = signedBy(by, "[]");
      return isByGithub({ keyId: by.id, signature: Buffer.from(signature, "base64") }, body);
    };
  };

  test("are fetched once, whatever keys reports name, until a minute has passed; a new one is then known", async () => {
    const [old, young] = [makeGithubKey("old"), makeGithubKey("young")];
    const isByGithub = judge([old.shown]);
    expect(await Promise.all([isByGithub(old), isByGithub(old), isByGithub(young)])).toEqual([true, true, false]);
    github.shown = [young.shown] as typeof github.shown;
    for (let i = 0; i < 50; i++) expect(await isByGithub(makeGithubKey(`unknown ${i}`))).toBe(false);
    expect([await isByGithub(young), await isByGithub(old), github.asked]).toEqual([false, true, 1]);
    now += 60_000;
    expect([await isByGithub(young), await isByGithub(old), github.asked]).toEqual([true, false, 2]);
  });

  test("are used for a day while GitHub does not show them, and then no report can be verified", async () => {
    const key = makeGithubKey("k");
    const isByGithub = judge([key.shown]);
    expect(await isByGithub(key)).toBe(true);
    github.away = true;
    now += 23 * 3_600_000;
    expect(await isByGithub(key)).toBe(true);
    now += 2 * 3_600_000;
    await expect(isByGithub(key)).rejects.toThrow(GithubUnavailableError);
  });

  test("are of the kind that GitHub signs with: no other is taken", async () => {
    const other = makeGithubKey("other", "P-384");
    const isByGithub = judge([other.shown, { key_identifier: "none", key: "no key" }, {}]);
    expect(await isByGithub(other)).toBe(false);
  });
});

test("b99: a signature that cannot be verified is 503, so that GitHub sends the report again", async () => {
  const installation = await startInstallation();
  installation.github.away = true;
  const key = makeGithubKey("k");
  installation.github.shown = [key.shown];
  const { secret } = await installation.makeKey("revoking");
  const body = matchesOf([secret]);
  const { status, text } = await installation.post(body, signedBy(key, body));
  expect([status, JSON.parse(text).code]).toEqual([503, "unavailable"]);
  expect(await installation.api.tryKey(secret)).toBe(200);
  await until("it is logged", () =>
    installation.api.lines.some((line) => line.includes("cannot verify GitHub's signature")),
  );
  await installation.close();
});
