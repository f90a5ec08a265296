/** The variables of a key, on a running `keyplane up`, in a real shell. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Installation, key, keyplane, team, type Up } from "../up.ts";

const gateway = (namespace: string, name: string, dialects: readonly string[]): string =>
  `apiVersion: v1
kind: Secret
metadata: { name: provider-${name}, namespace: ${namespace} }
stringData: { api-key: sk-provider }
---
apiVersion: keyplane.dev/v1alpha1
kind: ModelGateway
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  publicID: ${namespace}-${name}
  upstreams: [${dialects.map((dialect) => `{ name: ${dialect}, dialect: ${dialect}, baseURL: "http://127.0.0.1:1", credentialRef: { name: provider-${name}, key: api-key } }`)}]
---
`;

export function testEnv({ home, data, up: running }: Installation): void {
  let up: Up;

  /** What a shell has after it was given these lines, of the variables that they set. */
  function setBy(lines: string): Record<string, string> {
    const script = `set -eu; eval "$1"; exec env`;
    const printed = execFileSync("bash", ["-c", script, "bash", lines], {
      encoding: "utf8",
      env: { PATH: process.env.PATH },
    });
    const all = printed
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]);
    return Object.fromEntries(all.filter(([name]) => lines.includes(`export ${name}=`)));
  }

  describe("keyplane env", () => {
    beforeAll(async () => {
      home.write("one.yaml", team("one", "one") + gateway("one", "main", ["openai", "anthropic"]));
      home.write(
        "two.yaml",
        team("two", "two") + gateway("two", "main", ["openai"]) + gateway("two", "google", ["gemini"]),
      );
      home.write("three.yaml", team("three", "three"));
      home.write(
        "env-keys.yaml",
        key("chat", "scopes: [gateway:generate, gateway:routes]", "one") +
          key("memory", "preset: MCPReadWrite, secret: { name: notes, dataKey: TOKEN }", "one") +
          key("bound", "scopes: [gateway:generate], gatewayRef: { name: google }", "two") +
          key("any", "scopes: [gateway:generate]", "two") +
          key("without", "scopes: [gateway:generate]", "three") +
          key("unowned", "preset: MCPReadOnly", "other"),
      );
      up = running();
      for (const [namespace, name] of [
        ["one", "chat"],
        ["one", "memory"],
        ["two", "bound"],
        ["two", "any"],
        ["three", "without"],
      ] as const) {
        await up.waitFor(namespace, name, "Ready");
      }
      await up.waitFor("other", "unowned", "NamespaceUnclaimed");
    });

    test("sets the variables of the only gateway's dialects, and never shows the key", async () => {
      const { code, out, err } = await keyplane(["env", "one/chat", ...data]);
      expect([code, err]).toEqual([0, ""]);
      const secret = up.secretOf("one", "chat");
      expect(out).not.toContain(secret.slice(0, 13));
      const file = join(home.data, "secrets/one/chat/api-key");
      expect(out).toContain(`export OPENAI_API_KEY="$(cat ${file})"\n`);
      expect(setBy(out)).toEqual({
        KEYPLANE_BASE_URL: up.url,
        KEYPLANE_API_KEY: secret,
        OPENAI_BASE_URL: `${up.url}/g/one-main/v1`,
        OPENAI_API_KEY: secret,
        ANTHROPIC_BASE_URL: `${up.url}/g/one-main`,
        ANTHROPIC_API_KEY: secret,
      });
    });

    test("sets those of the gateway that the key is bound to, or that is named", async () => {
      const bound = setBy((await keyplane(["env", "bound", "-n", "two", ...data])).out);
      expect(bound).toMatchObject({
        GOOGLE_GEMINI_BASE_URL: `${up.url}/g/two-google`,
        GEMINI_API_KEY: up.secretOf("two", "bound"),
      });
      expect((await keyplane(["env", "bound", "-n", "two", ...data])).out).toMatch(/^unset GOOGLE_API_KEY$/m);
      expect(Object.keys(bound)).not.toContain("OPENAI_API_KEY");
      const named = await keyplane([
        "env",
        "two/any",
        "--gateway",
        "two/main",
        "--server",
        "https://keys.example.com/",
        ...data,
      ]);
      expect(setBy(named.out)).toMatchObject({ OPENAI_BASE_URL: "https://keys.example.com/g/two-main/v1" });
    });

    test("sets of a key for the memory the server's URL and the key alone, from the Secret that it has", async () => {
      const { out } = await keyplane(["env", "one/memory", ...data]);
      const file = join(home.data, "secrets/one/notes/TOKEN");
      expect(out).toBe(`export KEYPLANE_BASE_URL='${up.url}'\nexport KEYPLANE_API_KEY="$(cat ${file})"\n`);
      const document = await keyplane(["env", "one/memory", "-o", "yaml", ...data]);
      expect(parse(document.out)).toEqual({
        urls: { KEYPLANE_BASE_URL: up.url },
        keys: ["KEYPLANE_API_KEY"],
        secret: { namespace: "one", name: "notes", dataKey: "TOKEN" },
      });
    });

    test.each([
      ["two/any", [], 2, "may use several gateways: say which with --gateway: two/google, two/main"],
      ["two/bound", ["--gateway", "two/main"], 2, "is bound to gateway google"],
      ["one/memory", ["--gateway", "main"], 2, "may use no gateway"],
      ["three/without", [], 1, "team three has no gateway for key three/without: see "],
      ["other/unowned", [], 1, "key other/unowned is in no Secret of ours (NamespaceUnclaimed): see "],
      ["one/none", [], 1, "there is no key one/none"],
      ["inf_0123456789", [], 2, "that is the beginning of a secret"],
      ["one/chat", ["--server", "keys.example.com"], 2, "--server: must be an http or https URL"],
    ])("of %s with %j says why not", async (named, flags, code, says) => {
      const ended = await keyplane(["env", named, ...flags, ...data]);
      expect([ended.code, ended.out, ended.err]).toEqual([code, "", expect.stringContaining(says)]);
    });

    test("does not take the URL of another server from a variable where a folder is meant", async () => {
      const { out } = await keyplane(["env", "one/memory", ...data], { KEYPLANE_SERVER: "https://keys.example.com" });
      expect(out).toContain(`'${up.url}'`);
    });
  });
}
