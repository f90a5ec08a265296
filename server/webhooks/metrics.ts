import { Counter, type Registry } from "@prometheus-io/client";

const DELIVERY_OUTCOMES = ["delivered", "retried", "failed"] as const;

/** The outcome of a delivery attempt: delivered, to be retried, or failed for good. */
type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

/** Counts a webhook delivery attempt by its outcome. */
export type CountDelivery = (outcome: DeliveryOutcome) => void;

/** Registers the metric of deliveries. */
export function deliveryMetrics(registry: Registry): CountDelivery {
  const counter = new Counter({
    name: "keyplane_webhook_deliveries_total",
    help: "Webhook delivery attempts by outcome; each retry counts",
    labelNames: ["outcome"],
    registers: [registry],
  });
  // To Prometheus, a series that first appears as a 1 has not increased.
  for (const outcome of DELIVERY_OUTCOMES) counter.inc({ outcome }, 0);
  return (outcome) => counter.inc({ outcome });
}
