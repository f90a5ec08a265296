/** Where a reader finds what a name says: one declaration of it, and a file's test at the file's own path below test/. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import { FOLDERS, filesBelow, ROOT, read } from "./sources.ts";

/** What these folders hold decides without I/O: its rules are read in its tests. */
const PURE = ["domain", "memory/rules", "server/key-index"];
/** A file of fewer lines is documented enough by those who use it. */
const LINES = 60;
/** Written by scripts/generate.ts. */
const GENERATED = "domain/kinds/generated/";

/** Files that have no test of their own, and the test that covers them. */
const COVERED_ELSEWHERE: Readonly<Record<string, { readonly by: string; readonly why: string }>> = {
  "domain/manifest/document/encrypted.ts": {
    by: "test/domain/manifest/validation/validate.test.ts",
    why: "what is encrypted is seen by what is said of the manifest",
  },
  "domain/access/operations.ts": {
    by: "test/server/auth/decisions.test.ts",
    why: "a table, each row of which is decided there with every scope",
  },
  "domain/access/key-record.ts": { by: "test/domain/access/authorize.test.ts", why: "types that decisions read" },
  "domain/key/declaration/declared-key.ts": {
    by: "test/domain/key/fields/declare-key.test.ts",
    why: "what a declaration is read as",
  },
  "domain/key/conditions/secret-delivered.ts": {
    by: "test/domain/key/conditions/readiness.test.ts",
    why: "Ready repeats what it says: their rows stand together",
  },
  "server/key-index/metrics.ts": {
    by: "test/server/key-index/replica.test.ts",
    why: "definitions of metrics: what sets them is what a replica does",
  },
  "server/key-index/index-tables.ts": {
    by: "test/server/key-index/key-index.test.ts",
    why: "what KeyIndex and IndexMirror have in common, and nothing else is made of",
  },
};

const linesOf = (file: string) => read(file).split("\n").length - 1;
/** A table of rules is a test's too: one that reads several tables runs them. */
const testsOf = (file: string) => [".test.ts", ".rows.ts"].map((ending) => join("test", file.replace(/\.ts$/, ending)));
const hasTest = (file: string) => testsOf(file).some((test) => existsSync(join(ROOT, test)));

it.each(PURE)(
  "each file of 60 lines and more in %s has a test of its name, or says which other covers it",
  (folder) => {
    const files = filesBelow(folder, ".ts").filter((file) => !file.startsWith(GENERATED) && linesOf(file) >= LINES);
    expect(files.filter((file) => !hasTest(file) && COVERED_ELSEWHERE[file] === undefined)).toEqual([]);
  },
);

it("names no file that is gone, has a test by now, or is covered by a test that is not there", () => {
  const wrong = Object.entries(COVERED_ELSEWHERE).filter(
    ([file, { by }]) => !existsSync(join(ROOT, file)) || hasTest(file) || !existsSync(join(ROOT, by)),
  );
  expect(wrong.map(([file]) => file)).toEqual([]);
});

it("test/oracle judges for several suites: it imports none of them", () => {
  const wrong = filesBelow("test/oracle", ".ts").filter((file) =>
    /from "\.\.\/(?:chaos|e2e|faults|bench)\//.test(read(file)),
  );
  expect(wrong).toEqual([]);
});

/** Where names that are exported mean one thing in all of them; the fixtures of a suite are its own. */
const NAMED = [...FOLDERS, "scripts", "examples"];

const PULUMI = "users choose between the provider's resource and Kubernetes' of the same kind";
/** Exported names that several files declare on purpose. */
const DECLARED_TWICE: Readonly<Record<string, string>> = {
  ...{ PlatformKey: PULUMI, PlatformTeam: PULUMI, ModelGateway: PULUMI, MemoryLibrary: PULUMI },
  Environment: "users of the Pulumi package write it for a stage; here it is a process's variables",
};

const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|interface|type|enum|const|let|var) (\w+)/gm;

/** What stands in a file as the declaration of an exported name: in the text of a template too. */
const exportsIn = (file: string) => [...read(file).matchAll(DECLARATION)].map(([, name = ""]) => name);

/** The names that a file exports where it declares them. */
function exportsOf(file: string): string[] {
  const { statements } = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest);
  return statements
    .filter(isExported)
    .flatMap(declarationsIn)
    .flatMap(({ name }) => (name !== undefined && ts.isIdentifier(name) ? [name.text] : []));
}

function isExported(statement: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
}

function declarationsIn(statement: ts.Statement): readonly ts.NamedDeclaration[] {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations;
  const isNamed =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isEnumDeclaration(statement);
  return isNamed ? [statement] : [];
}

it("an exported name is declared in one file, and means one thing", () => {
  const declarations = NAMED.flatMap((folder) => filesBelow(folder, ".ts")).flatMap((file) =>
    [...new Set(exportsIn(file))].map((name) => ({ name, file })),
  );
  expect(declarations.length).toBeGreaterThan(1_000);
  // To parse a file takes long: those are whose names seem to be in another one too.
  const several = [...Map.groupBy(declarations, ({ name }) => name)]
    .filter(([, all]) => all.length > 1)
    .map(([name, all]) => [name, all.filter(({ file }) => exportsOf(file).includes(name))] as const)
    .filter(([, all]) => all.length > 1);
  const unnamed = several.filter(([name]) => DECLARED_TWICE[name] === undefined);
  expect(unnamed.map(([name, all]) => `${name}: ${all.map(({ file }) => file).join(", ")}`)).toEqual([]);
  const names = new Set(several.map(([name]) => name));
  expect(Object.keys(DECLARED_TWICE).filter((name) => !names.has(name))).toEqual([]);
});
