import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { validate } from "dockerfile-utils";
import { describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { FOLDERS, filesBelow, ROOT, read } from "../architecture/sources.ts";

const dockerfile = read("Dockerfile");
const lines = dockerfile.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
const valuesOf = (instruction: string) =>
  lines.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.slice(instruction.length + 1));

describe("the Dockerfile", () => {
  test("has nothing that a linter finds fault with", () => {
    expect(validate(dockerfile).map(({ message, range }) => `${range.start.line + 1}: ${message}`)).toEqual([]);
  });

  test("builds and runs on the Node.js of the checkout, and on distroless", () => {
    const { node } = packageJson.devDependencies;
    const [major] = node.split(".");
    expect(valuesOf("FROM")).toEqual([
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is Docker's
      "--platform=$BUILDPLATFORM ${BUILD_BASE} AS build",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is Docker's
      "${RUN_BASE}",
    ]);
    expect(valuesOf("ARG").slice(0, 2)).toEqual([
      expect.stringMatching(`^BUILD_BASE=node:${RegExp.escape(node)}-trixie-slim(@sha256:[0-9a-f]{64})?$`),
      expect.stringMatching(`^RUN_BASE=gcr\\.io/distroless/nodejs${major}-debian13:nonroot(@sha256:[0-9a-f]{64})?$`),
    ]);
  });

  test("ends with a stage that copies from the build alone and runs nothing: no shell, no npm", () => {
    const last = lines.slice(lines.findLastIndex((line) => line.startsWith("FROM ")) + 1);
    expect(last.map((line) => line.split(" ", 1).join())).toEqual(["COPY", "ENV", "USER", "EXPOSE", "ENTRYPOINT"]);
    expect(last[0]).toBe("COPY --from=build /keyplane /keyplane");
  });

  test("has a user by number who is not root, so that a cluster can see it, and no shell before the first process", () => {
    expect(valuesOf("USER")).toEqual(["65532:65532"]);
    expect(valuesOf("ENTRYPOINT").map((value) => JSON.parse(value))).toEqual([
      ["/nodejs/bin/node", "/keyplane/dist/cli/main.js"],
    ]);
  });

  test("takes and sets nothing that could be secret", () => {
    const names = valuesOf("ARG").map((value) => value.split("=", 1).join());
    expect([...names, ...valuesOf("ENV")]).toEqual([
      "BUILD_BASE",
      "RUN_BASE",
      "KEYPLANE_COMMIT",
      "NODE_ENV=production",
    ]);
  });

  test("is built of what .dockerignore names, and of no key or data that lies beside it in a checkout", () => {
    const [all, ...kept] = read(".dockerignore").trim().split("\n").slice(1);
    expect(all).toBe("*");
    const inGit = new Set(
      execFileSync("git", ["ls-tree", "--name-only", "HEAD"], { cwd: ROOT, encoding: "utf8" }).split("\n"),
    );
    expect(kept.filter((line) => !line.startsWith("!") || !inGit.has(line.slice(1)))).toEqual([]);
    expect(FOLDERS.filter((folder) => !kept.includes(`!${folder}`))).toEqual([]);
  });

  test("has all that its build reads", () => {
    const sent = read(".dockerignore")
      .matchAll(/^!(.*)$/gm)
      .map(([, name]) => name)
      .toArray();
    const sources = [...FOLDERS.flatMap((folder) => filesBelow(folder, ".ts")), "scripts/build.ts", "scripts/image.ts"];
    const imported = sources.flatMap((file) =>
      [...read(file).matchAll(/\bfrom "(\.[^"]+)"/g)].map(([, from = ""]) =>
        join(dirname(file), from).split("/", 1).join(),
      ),
    );
    const ofBuild = [".npmrc", "LICENSE", "package-lock.json", "scripts", "tsconfig.json", "tsconfig.package.json"];
    expect(imported).toContain("package.json");
    expect([...new Set([...imported, ...ofBuild])].filter((name) => !sent.includes(name))).toEqual([]);
  });
});
