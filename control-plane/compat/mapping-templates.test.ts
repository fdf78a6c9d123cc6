import { expect, test } from 'vitest';
import { templateOf, templatesOf, viewTemplate } from './mapping-templates.ts';

test('mapping templates: only the first template is the default, and each event name of the platform has a template', () => {
  const templates = templatesOf('Facebook');
  expect(templates.map(({ id }) => id)).toEqual(expect.arrayContaining(['default', 'event', 'event:Purchase']));
  expect(templates.filter(({ isDefault }) => isDefault)).toEqual([templates[0]]);
  expect(new Set(templates.map(({ id }) => id)).size).toBe(templates.length);
  expect(templatesOf('HTTPDestination').map(({ id }) => id)).toEqual(['default', 'event']);
});

test('mapping templates: a mapping belongs to the template of its event name, or to no template if its name is computed', () => {
  expect(templateOf('Facebook', { isDefault: false, eventName: 'Purchase' })?.id).toBe('event:Purchase');
  expect(templateOf('Facebook', { isDefault: false, eventName: null })?.id).toBe('event');
  expect(templateOf('Facebook', { isDefault: true, eventName: null })?.id).toBe('default');
  expect(templateOf('Facebook', { isDefault: false, eventName: '{{event.event}}!' })).toBeUndefined();
});

test('mapping templates: each mapped property is listed once, and marked if it is personal', () => {
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
