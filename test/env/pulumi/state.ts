/**
 * What the CLI keeps of a stack in a folder, read without it: the library that runs stacks starts it twice after each
 * update for the outputs, and once more for the summary, which takes a third of what the update itself does.
 */
import { createDecipheriv, pbkdf2 } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { OutputMap, UpdateSummary } from "@pulumi/pulumi/automation/index.js";

/** What marks an object as a special one, and the mark of secrets. */
const MARK = "4dabf18193072939515e22adb298388d";
const SECRET = "1b47061264138c4ac30d75fd1eb44270";
/** As the CLI derives a key of AES from a passphrase. */
const DERIVATION = { rounds: 1_000_000, bytes: 32, digest: "sha256" } as const;

type Resource = { readonly type: string; readonly outputs?: Readonly<Record<string, unknown>> };

/** The outputs of a stack by its state, decrypted: those that `pulumi stack output` shows. */
export async function outputsIn(file: string, passphrase: string): Promise<OutputMap> {
  const { checkpoint } = JSON.parse(await readFile(file, "utf8"));
  const { resources = [], secrets_providers } = checkpoint.latest ?? {};
  const stack = resources.find(({ type }: Resource) => type === "pulumi:pulumi:Stack");
  const outputs: Readonly<Record<string, unknown>> = stack?.outputs ?? {};
  if (!JSON.stringify(outputs).includes(SECRET)) return mapValues(outputs, (value) => ({ value, secret: false }));
  const key = await keyOf(passphrase, secrets_providers.state.salt);
  const open = (value: unknown) =>
    JSON.parse(JSON.stringify(value), (_, part) => (isSecret(part) ? JSON.parse(decrypt(key, part.ciphertext)) : part));
  return mapValues(outputs, (value) => ({ value: open(value), secret: isSecret(value) }));
}

/** The summary of the last update, as the history of a stack has it. */
export async function lastUpdateIn(folder: string): Promise<UpdateSummary | undefined> {
  const name = (await readdir(folder))
    .filter((file) => file.endsWith(".history.json"))
    .sort()
    .at(-1);
  return name === undefined ? undefined : JSON.parse(await readFile(join(folder, name), "utf8"));
}

function mapValues<T>(values: Readonly<Record<string, unknown>>, to: (value: unknown) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, to(value)]));
}

function isSecret(value: unknown): value is { ciphertext: string } {
  return typeof value === "object" && value !== null && MARK in value && value[MARK] === SECRET;
}

const keys = new Map<string, Promise<Buffer>>();
/** A stack's key, which takes a third of a second to derive. */
function keyOf(passphrase: string, text: string): Promise<Buffer> {
  const [, salt = ""] = text.split(":");
  const { rounds, bytes, digest } = DERIVATION;
  const key = keys.get(text) ?? promisify(pbkdf2)(passphrase, Buffer.from(salt, "base64"), rounds, bytes, digest);
  keys.set(text, key);
  return key;
}

/** Decrypts `v1:NONCE:CIPHERTEXT`, whose last 16 bytes are its tag. */
function decrypt(key: Buffer, text: string): string {
  const [nonce = Buffer.of(), sealed = Buffer.of()] = text
    .split(":")
    .slice(1)
    .map((part) => Buffer.from(part, "base64"));
  const decipher = createDecipheriv("aes-256-gcm", key, nonce);
  decipher.setAuthTag(sealed.subarray(-16));
  return `${decipher.update(sealed.subarray(0, -16), undefined, "utf8")}${decipher.final("utf8")}`;
}
