import { addClients, addQuorum } from './clients.ts';
import { addCut, addOwners, addRetention } from './consumers.ts';
import { addDispatching, addPublishing } from './dispatcher.ts';
import type { Step } from './explore.ts';
import { addDatabase, addResolving } from './resolver.ts';
import type { Rules, Size } from './rules.ts';
import { accountOf, collectSteps } from './state.ts';
import type { State } from './state.ts';

/*
 * A model of the way from the gateway to the destination: states, and the steps between them.
 *
 * - `clients.ts`: clients, gateways and the quorum of INGEST
 * - `claims.ts`: what the next owner of a consumer begins with
 * - `consumers.ts`: readers of INGEST and EVENTS: positions, acknowledgements; logs that are cut or cleaned
 * - `resolver.ts`: from INGEST to EVENTS: ids, one writer, the database, accounts in parallel
 * - `dispatcher.ts`: from EVENTS to the destination: order, references to waiting events, versions
 * - `poison.ts`: events that crash their dispatcher
 * - `rules.ts`: the rules that keep the promises, and the possible faults
 */

/** Everything that can happen in a state, given as JSON. */
export function stepsFrom(text: string, rules: Rules, size: Size): readonly Step<State>[] {
  return collectSteps(text, rules, size, (adding) => {
    addClients(adding);
    addQuorum(adding);
    for (const name of ['ingest', 'events'] as const) {
      addOwners(adding, name);
      addCut(adding, name);
    }
    addDatabase(adding);
    addResolving(adding);
    addPublishing(adding);
    addDispatching(adding);
    addRetention(adding);
  });
}

/**
 * Checks that nothing is lost: when no step is left, each acknowledged event is delivered, is a dead letter, or was
 * lost with the end of a log. Only events of an account for which the database writes nothing may still wait.
 */
export function lackingAtRest(state: State, size: Size): string | undefined {
  const { acknowledged, delivered, dead, destroyed, stalled } = state;
  const lost = acknowledged
    .filter((event) => !stalled.includes(accountOf(event, size)))
    .filter((event) => ![delivered, dead, destroyed].some((list) => list.includes(event)));
  return lost.length === 0 ? undefined : `LOST: ${lost.join(', ')}`;
}
