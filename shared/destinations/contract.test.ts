import { describe, expect, it } from 'vitest';
import { creatableDestinationTypes } from '../collections/destination-types.ts';
import { SettingError } from './define.ts';
import type { DestinationKind } from './define.ts';
import { isHeaderValue } from './header-rules.ts';
import { destinationKinds, findDestinationKind } from './registry.ts';
import { sampleEvent } from './sample-event.ts';

const nowMs = 1_700_000_001_000;

describe.each(destinationKinds.map((kind) => [kind.descriptor.id, kind] as const))('%s', (id, kind) => {
  it('registry: has an id of its own that may be created', () => {
    expect(findDestinationKind(id)).toBe(kind);
    expect(destinationKinds.filter(({ descriptor }) => descriptor.id === id)).toHaveLength(1);
    expect(creatableDestinationTypes).toContain(id);
  });

  it('descriptor: keys are unique and named in the example', () => {
    const keys = kind.descriptor.settings.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    for (const key of Object.keys(kind.exampleSettings)) expect(keys).toContain(key);
  });

  it('prepare: refuses settings without each required one, naming it', () => {
    for (const key of requiredKeys(kind)) {
      const rest = Object.fromEntries(Object.entries(kind.exampleSettings).filter(([name]) => name !== key));
      expect(() => kind.prepare(rest)).toThrow(SettingError);
      expect(() => kind.prepare(rest)).toThrow(key);
    }
  });

  it('buildRequest: one event makes a request that can be sent', () => {
    const prepared = kind.prepare(kind.exampleSettings);
    const request = prepared.buildRequest([{ resolved: sampleEvent() }], nowMs);
    expect(['http:', 'https:']).toContain(new URL(request.url).protocol);
    for (const [name, value] of Object.entries(request.headers)) {
      expect(name).toBe(name.toLowerCase());
      expect(isHeaderValue(value)).toBe(true);
    }
    expect(request.method === 'GET' || (request.body ?? '') !== '').toBe(true);
  });

  it('buildRequest: a repeated attempt is the same request', () => {
    const events = [{ resolved: sampleEvent() }];
    const first = kind.prepare(kind.exampleSettings).buildRequest(events, nowMs);
    expect(kind.prepare(kind.exampleSettings).buildRequest(events, nowMs)).toEqual(first);
  });

  it('buildRequest: takes hostile text without breaking out of the request', () => {
    const prepared = kind.prepare(kind.exampleSettings);
    const hostile = sampleEvent({ id: 'x\r\nX-Injected: 1', event: 'a\r\nb\u0000"}', event_properties: { a: '\r\n' } });
    const request = prepared.buildRequest([{ resolved: hostile }], nowMs);
    for (const value of Object.values(request.headers)) expect(isHeaderValue(value)).toBe(true);
    expect(new URL(request.url).href).not.toMatch(/[\r\n]/);
  });

  it('buildRequest: takes as many events as it says', () => {
    const prepared = kind.prepare(kind.exampleSettings);
    const events = Array.from({ length: prepared.batchEventsMax }, (_, i) => ({
      resolved: sampleEvent({ id: `e${i}` }),
    }));
    expect(prepared.buildRequest(events, nowMs).url).toContain('://');
  });
});

function requiredKeys({ descriptor }: DestinationKind): string[] {
  return descriptor.settings.flatMap((setting) =>
    'required' in setting && setting.required === true ? [setting.key] : [],
  );
}
