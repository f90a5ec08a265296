/**
 * Limits of the connections that keep the key index current. They are separate from all others, so that slow searches
 * cannot let the lease run out. One is used at a time; the others are for a network that loses messages: each half
 * second another connection asks for the head, and it takes 5 to 10 s until a connection is known to be dead. One is
 * kept open: with a long lease it is used every 12 s.
 *
 * Each connection plans a statement once: planning the query for a change takes many times as long as running it, and
 * each replica would otherwise plan the first five on each connection.
 */
export const FEED_CONNECTIONS = { maxConnections: 8, keepsOne: true, genericPlans: true };
