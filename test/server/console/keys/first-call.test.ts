import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { callableModel, firstCalls } from "../../../../server/console/keys/once/first-call.ts";

const ACTIVE = { state: "Active" } as const;
const CALLER = { scopes: ["gateway:generate"], spec: ACTIVE };
const CHARACTERS = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" } as const;

/** The blocks of code that are shown for calls of a gateway's model. */
function codeFor(dialect: "openai" | "anthropic" | "gemini", model: string): string[] {
  const page = String(firstCalls(CALLER, { publicId: "models", dialect, model }, "http://models.example"));
  return [...page.matchAll(/<pre[^>]*>([^<]*)/g)].map(([, code = ""]) =>
    code.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: keyof typeof CHARACTERS) => CHARACTERS[name]),
  );
}

/** The arguments that bash calls curl with in each of some commands. */
function argumentsOf(commands: readonly string[]): string[][] {
  const script = `curl() { printf '%s\\0' "$@"; printf '\\n\\0'; }\n${commands.join("\n")}`;
  const text = execFileSync("bash", ["-c", script], { encoding: "utf8" });
  return text.split("\n\0").map((call) => call.split("\0").slice(0, -1));
}

const DIALECTS = {
  openai: ["/v1/chat/completions", 'OpenAI(base_url="URL/v1"', "openai"],
  anthropic: ["/v1/messages", 'Anthropic(base_url="URL"', "@anthropic-ai/sdk"],
  gemini: ["/v1beta/models/large:generateContent", '{"base_url": "URL"}', "@google/genai"],
} as const;

test.each(Object.keys(DIALECTS) as (keyof typeof DIALECTS)[])(
  "the first calls to a gateway of %s have its paths, and the packages of its provider",
  (dialect) => {
    const [path, python, typescript] = DIALECTS[dialect];
    const [curl, ofPython, ofTypescript] = codeFor(dialect, "large");
    const url = "http://models.example/g/models";
    expect(curl).toMatch(new RegExp(`  '${url}${path}'$`));
    expect(ofPython).toContain(python.replace("URL", url));
    expect(ofTypescript).toContain(`from "${typescript}"`);
    for (const code of [curl, ofPython, ofTypescript]) expect(code).toContain("KEYPLANE_API_KEY");
  },
);

test.each(["it's", "'$(exit>&2)'", 'a";`exit`#', "a\\", "&|;<(x)", "!x"])(
  "b361: the first calls of a new key name model %s of a gateway, and do nothing else",
  (model) => {
    const dialects = ["openai", "anthropic", "gemini"] as const;
    const calls = argumentsOf(dialects.map((dialect) => codeFor(dialect, model)[0] ?? ""));
    for (const [i, dialect] of dialects.entries()) {
      const [, python, typescript] = codeFor(dialect, model);
      const [body = "", url = ""] = calls[i]?.slice(-2) ?? [];
      const inPath = decodeURIComponent(/models\/([^/]*):/.exec(url)?.[1] ?? "");
      expect(dialect === "gemini" ? inPath : JSON.parse(body).model).toBe(model);
      expect(python).toContain(`model=${JSON.stringify(model)}`);
      expect(typescript).toContain(`model: ${JSON.stringify(model)}`);
    }
  },
);

const upstreams = [
  { name: "one", dialect: "openai" },
  { name: "two", dialect: "anthropic" },
] as const;
const routes = [
  { model: "large", upstream: "two" },
  { model: "small", upstream: "one" },
];
const ROUTES = ["gateway:generate", "gateway:routes"];

test.each([
  [ROUTES, {}, false, { dialect: "anthropic", model: "large" }],
  [ROUTES, { allowedModels: ["gpt", "small"] }, true, { dialect: "openai", model: "small" }],
  [["gateway:generate"], {}, false, { dialect: "openai", model: "MODEL" }],
  [["gateway:generate"], { allowedModels: ["large", "gpt"] }, false, { dialect: "openai", model: "gpt" }],
  [["gateway:generate"], {}, true, undefined],
  [ROUTES, { allowedModels: ["gpt"] }, true, undefined],
  [["gateway:embed", "gateway:routes"], {}, false, undefined],
  [["memory:read"], {}, false, undefined],
])(
  "the first call of a key of %j with %j, where routes alone are served: %s, is %j",
  (scopes, spec, routesOnly, call) => {
    const gateway = { routesOnly, routes, upstreams, operations: ["embed", "generate"] as const };
    const key = { scopes, spec: { ...ACTIVE, ...spec } };
    expect(callableModel(key, gateway)).toEqual(call);
    expect(callableModel(key, { ...gateway, operations: ["images"] })).toBeUndefined();
  },
);

test("the first calls of a key that may only write are none that reads", () => {
  const page = String(firstCalls({ scopes: ["memory:write"], spec: ACTIVE }, undefined, "http://memory.example"));
  expect(page).not.toMatch(/atoms\?limit|memory_recall/);
  expect(page).toContain("call memory_save_atom with");
});
