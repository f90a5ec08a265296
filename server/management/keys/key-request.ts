import type { FastifyRequest } from "fastify";
import { authorOf, principalOf } from "../author.ts";
import type { Management } from "../context.ts";
import type { ReasonBody } from "../request-schemas.ts";
import { rightsOf } from "../rights.ts";
import { type KeyChangeContext, NO_KEY } from "./changes.ts";

/** Of a route that is about one key. */
export type ById = { id: string };

/** What every id of a key looks like: nothing else is asked of the database. */
const KEY_ID = /^key_[a-z2-7]{1,32}$/;

/** @throws Problem `not_found` for what is no key's id */
export function keyIdOf({ params: { id } }: { readonly params: ById }): string {
  if (!KEY_ID.test(id)) throw NO_KEY;
  return id;
}

/** Who changes a key, what they may, and why they say they do. */
export async function changeContextOf(
  { store }: Management,
  request: FastifyRequest<{ Body: ReasonBody }>,
): Promise<KeyChangeContext> {
  const rights = await rightsOf(store.db, principalOf(request));
  return { store, author: authorOf(request, request.body.reason), rights };
}
