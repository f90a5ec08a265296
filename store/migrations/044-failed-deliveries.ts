/** The log of webhooks' deliveries, filtered for those that failed. */
export const indexes = [
  { name: "webhook_deliveries_failed", on: "webhook_deliveries (team_id, at, id) where state = 'failed'" },
  { name: "webhook_deliveries_failed_by_time", on: "webhook_deliveries (at, id) where state = 'failed'" },
];
