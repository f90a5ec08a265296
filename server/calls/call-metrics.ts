import { Counter, Gauge, type Registry } from "@prometheus-io/client";
import type { AnswerRoom } from "../http/answers/answer-room.ts";
import type { OpenStreams } from "./calls.ts";

/** Exports how many calls are under way, the bytes of their bodies, and what was refused for want of room. */
export function observeCalls(registry: Registry, streams: Pick<OpenStreams, "figures">): void {
  const registers = [registry];
  new Gauge({
    name: "keyplane_open_calls",
    help: "Calls with a key that are under way, each from its head to the end of its answer",
    registers,
    collect() {
      this.set(streams.figures().calls);
    },
  });
  new Gauge({
    name: "keyplane_kept_body_bytes",
    help: "Bytes of request bodies that are kept until their calls have ended",
    registers,
    collect() {
      this.set(streams.figures().keptBytes);
    },
  });
  new Counter({
    name: "keyplane_calls_without_room_total",
    help: "Calls refused because their key had as many under way as it may, or because their bodies found no room or made way for others",
    labelNames: ["of"],
    registers,
    collect() {
      const { refusedCalls, refusedBodies } = streams.figures();
      this.reset();
      this.inc({ of: "calls" }, refusedCalls);
      this.inc({ of: "bodies" }, refusedBodies);
    },
  });
}

/** Exports the bytes of answers that have not left, and the counts of those that found no room or were not read. */
export function observeAnswers(registry: Registry, answers: Pick<AnswerRoom, "figures">): void {
  const registers = [registry];
  new Gauge({
    name: "keyplane_held_answer_bytes",
    help: "Bytes that answers hold, or may come to hold, until their callers have taken them",
    registers,
    collect() {
      this.set(answers.figures().heldBytes);
    },
  });
  new Counter({
    name: "keyplane_answers_without_room_total",
    help: "Answers by outcome: refused for want of room, or cut because their caller did not read them",
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
