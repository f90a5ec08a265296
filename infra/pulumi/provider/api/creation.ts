import { createHash } from "node:crypto";
import type { Inputs, ResourceKind } from "../resources.ts";
import type { Api } from "./api.ts";
import { type ApiObject, fetchObject, parseObject } from "./api-object.ts";
import { Refusal } from "./refusal.ts";

type Creation = {
  readonly urn: string;
  readonly inputs: Inputs;
  readonly body: object;
};

/**
 * Largest number of Idempotency-Keys tried, above the number of times that a resource is destroyed and made again
 * within a day.
 */
const MAX_ROUNDS = 500;

/**
 * Makes an object, or finds the object that a killed `up` has made and not recorded. Both send the same
 * Idempotency-Key, which is derived from the URN and the properties that identify the object. If the object of an
 * Idempotency-Key no longer exists, the next key is used.
 *
 * @returns `adopted` is true if the object existed before this call: its spec and its secret may differ
 * @throws Refusal with code `exists` for an object that another client has made
 */
export async function createOrAdopt(
  api: Api,
  kind: ResourceKind,
  creation: Creation,
): Promise<{ object: ApiObject; adopted: boolean }> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const made = await tryCreate(api, kind, creation, { "idempotency-key": idempotencyKey(kind, creation, round) });
    if (made !== undefined) return made;
  }
  throw new Error(`it was made and deleted ${MAX_ROUNDS} times today: choose another name, or wait for a day`);
}

/** Makes or finds the object; undefined if the object of the Idempotency-Key no longer exists. */
async function tryCreate(
  api: Api,
  kind: ResourceKind,
  { body }: Creation,
  headers: { readonly "idempotency-key": string },
): Promise<{ object: ApiObject; adopted: boolean } | undefined> {
  try {
    const answer = await api.send("POST", kind.path, body, headers);
    const object = parseObject(answer);
    if (!answer.replayed) return { object, adopted: false };
    return isRevoked(object) ? undefined : { object, adopted: true };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // The answer to a repetition is the object as it is now.
    if (error.code === "not_found") return undefined;
    if (error.code !== "idempotency_mismatch" || error.id === undefined) throw error;
    const object = await fetchObject(api, kind, error.id);
    return object === undefined || isRevoked(object) ? undefined : { object, adopted: true };
  }
}

export function isRevoked({ revocation }: ApiObject): boolean {
  return revocation !== undefined;
}

function idempotencyKey({ identity }: ResourceKind, { urn, inputs }: Creation, round: number): string {
  const which = [urn, ...identity.map((property) => inputs[property] ?? ""), round];
  return `pulumi-${createHash("sha256").update(JSON.stringify(which)).digest("base64url")}`;
}
