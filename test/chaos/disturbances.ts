/** Whether anything is wrong that a run has done, and since when nothing is. */
export type Disturbances = {
  begin(): void;
  end(): void;
  /** In milliseconds since the epoch; infinity while anything is wrong. */
  overSince(): number;
};

export function countDisturbances(): Disturbances {
  let [open, since] = [0, Date.now()];
  return {
    begin: () => void open++,
    end() {
      open--;
      since = Date.now();
    },
    overSince: () => (open > 0 ? Number.POSITIVE_INFINITY : since),
  };
}
