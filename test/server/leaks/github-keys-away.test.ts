/** A report that GitHub signs with a key that cannot be fetched. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createGithubVerifier, GithubUnavailableError } from "../../../server/leaks/github.ts";
import { makeGithubKey, signedBy, startGithub } from "./installation.ts";

let github: Awaited<ReturnType<typeof startGithub>>;
beforeAll(async () => {
  github = await startGithub();
});
afterAll(() => github.close());

test("b99: by a key that is new since the last fetch is not taken for a stranger's while the keys cannot be fetched", async () => {
  const [old, young] = [makeGithubKey("old"), makeGithubKey("young")];
  github.shown = [old.shown];
  let now = 0;
  const isByGithub = createGithubVerifier(github.url, () => now);
  const judge = (by: typeof old) => {
    const { "Github-Public-Key-Signature": signature = "" } = signedBy(by, "[]");
    return isByGithub({ keyId: by.id, signature: Buffer.from(signature, "base64") }, Buffer.from("[]"));
  };
  expect(await judge(old)).toBe(true);
  github.away = true;
  now += 2 * 3_600_000;
  expect(await judge(old), "the last keys are used for a day").toBe(true);
  now += 60_000;
  await expect(judge(young)).rejects.toThrow(GithubUnavailableError);
});
