import { digestOf, marksOf } from '../judge/marks.ts';
import type { Arrival } from '../judge/judge.ts';
import type { ExpectedMarks } from '../judge/marks.ts';

/** The APIs through which a visitor sends events. */
export type Route = 'track' | 'batch' | 'pixel' | 'identify';

export type VisitorRequest = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
};

export type VisitorEvents = {
  readonly token: string;
  readonly seed: number;
  readonly route: Route;
  readonly visitor: number;
  readonly numbers: readonly number[];
  /** Whether the client sets event ids, which make a retry safe. */
  readonly isNamed: boolean;
};

const prefix = 'visitor-';
const batchPrefix = 'row';

/** Digests of the marks that an event should have at the destination. */
export function expectedMarks(seed: number, route: Route, visitor: number, number: number): ExpectedMarks {
  const { event, person } = marksOf(seed, visitor, number);
  return {
    event: route === 'identify' ? '' : digestOf(event),
    person: digestOf(person),
    saysPerson: route !== 'pixel',
  };
}

/** A request whose events carry their visitor, number and marks to the destination. */
export function visitorRequest({ token, seed, route, visitor, numbers, isNamed }: VisitorEvents): VisitorRequest {
  const externalId = `${prefix}${visitor}`;
  const number = numbers[0] ?? 0;
  const keyOf = (which: number): string => `${batchPrefix}-${visitor}-${which}`;
  const { event: own, person } = marksOf(seed, visitor, number);
  const userProperties = { custom_properties: person };
  const named = isNamed ? { distinctId: keyOf(number) } : {};
  const post = (path: string, fields: object): VisitorRequest => ({
    method: 'POST',
    path: `/api/v1/${path}`,
    body: JSON.stringify({ token, ...fields }),
  });
  switch (route) {
    case 'track':
      return post('track', { event: 'Numbered', externalId, properties: { number, ...own }, userProperties, ...named });
    case 'batch':
      return post('batch', {
        events: numbers.map((each) => ({
          event: 'Numbered',
          externalId,
          distinctId: keyOf(each),
          properties: { number: each, ...marksOf(seed, visitor, each).event },
          userProperties,
        })),
      });
    case 'pixel': {
      const query = new URLSearchParams({ event: 'Numbered', externalId, number: String(number), ...own, ...named });
      return { method: 'GET', path: `/pixel/${token}.gif?${query.toString()}` };
    }
    case 'identify':
      // An identify has no event properties, so the context carries the number.
      return post('identify', {
        externalId,
        userProperties: { custom_properties: person },
        defaultProperties: { number },
      });
  }
}

type Payload = {
  readonly event?: {
    readonly event?: unknown;
    readonly event_properties?: { readonly number?: unknown };
    readonly context?: { readonly number?: unknown };
  };
  readonly visitor?: {
    readonly external_id?: unknown;
    readonly custom_properties?: Readonly<Record<string, unknown>>;
  };
};

/**
 * Visitor and number of a delivered body, and digests of its marks. A missing visitor or number is 0, which no visitor
 * sends.
 */
export function readDelivered(body: string): Pick<Arrival, 'visitor' | 'number' | 'event' | 'person'> {
  const { event, visitor } = JSON.parse(body) as Payload;
  return {
    visitor: wholeOr0(String(visitor?.external_id).slice(prefix.length)),
    number: wholeOr0((event?.event === '$identify' ? event.context : event?.event_properties)?.number),
    event: digestOf(event?.event_properties),
    person: digestOf(visitor?.custom_properties),
  };
}

function wholeOr0(value: unknown): number {
  const number = Number(value);
  return Number.isInteger(number) ? number : 0;
}
