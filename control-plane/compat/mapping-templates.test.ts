import { expect, test } from 'vitest';
import { templateOf, templatesOf, viewTemplate } from './mapping-templates.ts';

test('templates: the default one first, an event under its own name, and the names a platform has', () => {
  const templates = templatesOf('Facebook');
  expect(templates.map(({ id }) => id)).toEqual(expect.arrayContaining(['default', 'event', 'event:Purchase']));
  expect(templates.filter(({ isDefault }) => isDefault)).toEqual([templates[0]]);
  expect(new Set(templates.map(({ id }) => id)).size).toBe(templates.length);
  expect(templatesOf('HTTPDestination').map(({ id }) => id)).toEqual(['default', 'event']);
});

test('templates: a mapping follows the one that names its event, or none', () => {
  expect(templateOf('Facebook', { isDefault: false, eventName: 'Purchase' })?.id).toBe('event:Purchase');
  expect(templateOf('Facebook', { isDefault: false, eventName: null })?.id).toBe('event');
  expect(templateOf('Facebook', { isDefault: true, eventName: null })?.id).toBe('default');
  expect(templateOf('Facebook', { isDefault: false, eventName: '{{event.event}}!' })).toBeUndefined();
});

test('templates: what they map, each once, and which of it is personal', () => {
  const [template] = templatesOf('Facebook');
  const { mappings } = viewTemplate('Facebook', template as NonNullable<typeof template>);
  const properties = mappings.map(({ property }) => property);
  expect(new Set(properties).size).toBe(properties.length);
  expect(mappings).toContainEqual(
    expect.objectContaining({ property: 'value', map: '{{event.event_properties.value}}', isPII: false }),
  );
  expect(mappings).toContainEqual(
    expect.objectContaining({ property: 'visitor.email', label: 'Email', map: '{{visitor.email}}', isPII: true }),
  );
});
