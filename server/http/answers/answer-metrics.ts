import { Counter, Gauge, type Registry } from "@prometheus-io/client";
import type { AnswerBudget } from "./answer-budget.ts";

/**
 * Exports the bytes that answers hold until they have left, and the counts of answers that were refused for lack of
 * memory budget or not read.
 */
export function observeAnswers(registry: Registry, answers: Pick<AnswerBudget, "figures">): void {
  const registers = [registry];
  new Gauge({
    name: "keyplane_held_answer_bytes",
    help: "Bytes that answers hold, or may hold, until callers have read them",
    registers,
    collect() {
      this.set(answers.figures().heldBytes);
    },
  });
  new Counter({
    name: "keyplane_answers_without_room_total",
    help: "Answers refused for lack of room, or cut because the caller did not read them, by outcome",
    labelNames: ["outcome"],
    registers,
    collect() {
      const { refused, cut } = answers.figures();
      this.reset();
      this.inc({ outcome: "refused" }, refused);
      this.inc({ outcome: "cut" }, cut);
    },
  });
}
