import { type Problem, problem } from "../../http/problems/problem.ts";

/** Error for an answer that names an object by the id of another team's: neither team reaches either of them. */
export class RepeatedIdError extends Error {
  constructor() {
    super(GIVEN_TWICE);
    this.name = "RepeatedIdError";
  }
}

/** Line of the log, which says no id. */
export const GIVEN_TWICE = "an upstream has given an id twice, to two teams, of which neither reaches the object";

export const REPEATED_ID: Problem = problem(
  "bad_gateway",
  "The upstream gave what it has made an id that it gave before. Which of the two it names cannot be known, so both are refused: ask an upstream that gives each id once, or one for each team. For a response, send `store: false`.",
  // Else an SDK makes it three times.
  { "x-should-retry": "false" },
);
