import { textOf } from '../sdk/path.ts';
import { defineSourceKind } from '../sdk/source-kind.ts';

/**
 * Healthie: what happened to which record, and nothing of it. A record is created and deleted once; two updates of it can
 * be alike, so these have no id.
 */
export const healthie = defineSourceKind({
  type: 'Healthie',
  label: 'Healthie',
  setUp: 'Settings, Developer, Webhooks: the address and the events',
  notes:
    'The body says nothing of a person: events are anonymous unless the address names one. Updates carry no id, so one that Healthie repeats is a second event. Its signature is not checked.',
  follows: [
    'https://docs.gethealthie.com/guides/webhooks',
    'https://docs.gethealthie.com/guides/webhooks/event-reference',
  ],
  table: {
    name: ['event_type'],
    id: ({ event_type: type, resource_id: resource }) => {
      const [name, id] = [textOf(type), textOf(resource)];
      return name !== undefined && id !== undefined && /\.(?:created|deleted)$/.test(name)
        ? `${name}:${id}`
        : undefined;
    },
  },
});
