import type { preHandlerHookHandler } from "fastify";
import { CallerLeftError } from "../../../store/database/errors.ts";
import { inManagedTurns } from "../../../store/database/managed-turns.ts";
import { type ManagedBodyDeps, managedBodyHolder } from "./body-holder.ts";

/** Never aborted: what changes something goes on where its caller has left. */
const STAYS = new AbortController().signal;

/** Has what handles a management request, or a page of the console, ask the database in its team's turns. */
export function handleInTurns({ index }: Pick<ManagedBodyDeps, "index">): preHandlerHookHandler {
  return (request, reply, done) => {
    const { managementPrincipal, raw } = request;
    if (managementPrincipal === null) return done();
    const { teamId } = managedBodyHolder(index, managementPrincipal);
    const isChange = raw.method !== "GET";
    inManagedTurns({ teamId, signal: isChange ? STAYS : leftBy(reply.raw), isChange }, done);
  };
}

function leftBy(response: { once(event: "close", listener: () => void): unknown }): AbortSignal {
  const leaving = new AbortController();
  response.once("close", () => leaving.abort(new CallerLeftError("the caller has left")));
  return leaving.signal;
}
