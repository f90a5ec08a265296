import type { Problem } from "../problems/problem.ts";

/**
 * Returns how room is made for bodies of which one is held at a time: only for what is beyond the largest one so far.
 *
 * @param reserve makes room for so many bytes more; returns the problem to answer if there is none
 * @returns makes room for a body that has so many bytes by now
 */
export function reusedRoom(reserve: (bytes: number) => Problem | undefined): (size: number) => Problem | undefined {
  let room = 0;
  return (size) => {
    const refusal = reserve(Math.max(0, size - room));
    room = Math.max(room, size);
    return refusal;
  };
}
