import { describe, expect, it } from 'vitest';
import { browserContext, browserId } from './browser-context.ts';
import { sentEvent } from './event.ts';
import { sampleEvent } from './sample-event.ts';

const eventWith = (context: object, properties = {}, visitor = {}) => {
  const resolved = sampleEvent({ context: { ...context }, event_properties: properties });
  return sentEvent({ resolved: { ...resolved, visitor: { ...resolved.visitor, ...visitor } } });
};

describe('browserContext', () => {
  it('url: only a web URL is accepted', () => {
    expect(browserContext(eventWith({ current_url: 'app://home', referrer: 'https://example.com/' }))).toMatchObject({
      url: undefined,
      referrer: 'https://example.com/',
    });
  });
});

describe('browserId', () => {
  const page = { current_url: 'https://shop.example.com/?ttclid=of-the-page' };

  it('id: taken from the event, else from the context, the page or the visitor', () => {
    const visitor = { ttclid: 'of-the-visitor' };
    const ids = [
      eventWith({ ...page, ttclid: 'of-the-context' }, { ttclid: 'of-the-event' }, visitor),
      eventWith({ ...page, ttclid: 'of-the-context' }, {}, visitor),
      eventWith(page, {}, visitor),
      eventWith({}, {}, visitor),
      eventWith({}, {}, { custom_properties: { ttclid: 'of-the-customer' } }),
      eventWith({}),
    ].map((event) => browserId(event, ['ttclid']));
    expect(ids).toEqual([
      'of-the-event',
      'of-the-context',
      'of-the-page',
      'of-the-visitor',
      'of-the-customer',
      undefined,
    ]);
  });

  it('id: is found under any of its names', () => {
    expect(browserId(eventWith({ _fbp: 'fb.1.2.3' }), ['fbp', '_fbp'])).toBe('fb.1.2.3');
  });
});
