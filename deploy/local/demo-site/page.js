// The demo site: one page, and the calls of whichever library the query names.

const query = new URLSearchParams(location.search);
const library = query.get('library') ?? 'sluice';
// How the libraries of others send: one by one, in batches, by beacon.
const inBatches = query.has('batch');
const state = document.getElementById('state');

function loadScript(src, data = {}) {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = src;
    Object.assign(script.dataset, data);
    script.addEventListener('load', resolve);
    script.addEventListener('error', () => reject(new Error(`${src} could not be loaded`)));
    document.head.append(script);
  });
}

const order = { order_id: 'A-1001', total: 42.5, currency: 'EUR' };
const ada = { email: 'ada@example.com', firstName: 'Ada', plan: 'pro' };

/** How each library is started, and how its calls are made. */
const libraries = {
  async sluice({ gateway, key }) {
    window.sluice = function () {
      (window.sluice.q = window.sluice.q || []).push(arguments);
    };
    await loadScript(`${gateway}/sluice.js`, { key });
    return {
      track: () => window.sluice('track', 'Order Completed', order),
      identify: () => window.sluice('identify', 'ada', { email: ada.email, first_name: ada.firstName }),
      page: () => window.sluice('page', { section: 'more' }),
      group: () => window.sluice('identify', '', { company_name: 'Acme' }),
    };
  },
  async segment({ gateway, key }) {
    await loadScript('/site/segment.js');
    const batching = { strategy: 'batching', config: { size: 10, timeout: 500 } };
    const integrations = inBatches ? { 'Segment.io': { deliveryStrategy: batching } } : {};
    const [analytics] = await window.AnalyticsNext.AnalyticsBrowser.load(
      { writeKey: key, cdnURL: gateway },
      { integrations },
    );
    window.analytics = analytics;
    await analytics.page();
    return callsOf(analytics);
  },
  async rudderstack({ gateway, key }) {
    await loadScript('/site/rudderstack.js');
    const Library = window.rudderanalytics?.RudderAnalytics ?? window.RudderAnalytics;
    const analytics = new Library();
    window.analytics = analytics;
    await new Promise((resolve) =>
      analytics.load(key, gateway, {
        configUrl: gateway,
        storage: { encryption: { version: 'legacy' } },
        queueOptions: { batch: { enabled: inBatches, flushInterval: 500 } },
        useBeacon: query.has('beacon'),
        onLoaded: resolve,
      }),
    );
    analytics.page();
    return callsOf(analytics);
  },
};

const callsOf = (analytics) => ({
  track: () => analytics.track('Order Completed', order),
  identify: () => analytics.identify('ada', ada),
  page: () => analytics.page('Docs', 'More'),
  group: () => analytics.group('acme', { name: 'Acme', employees: 12 }),
  alias: () => analytics.alias('ada-new', 'ada'),
});

async function showArrived() {
  const list = document.getElementById('arrived');
  try {
    const { events } = await (await fetch('/events?limit=20')).json();
    const items = events.map(({ body }) => {
      const item = document.createElement('li');
      const { event, visitor } = body ?? {};
      item.append(event?.event ?? 'A request');
      const code = document.createElement('code');
      code.textContent = JSON.stringify({ visitor: visitor?.id, ...event?.event_properties });
      item.append(code);
      return item;
    });
    list.replaceChildren(...items);
  } catch {
    // The next look may find it again.
  }
  setTimeout(showArrived, 1_000);
}

async function start() {
  for (const link of document.querySelectorAll('nav a')) {
    if (new URL(link.href).searchParams.get('library') === library) link.setAttribute('aria-current', 'page');
  }
  void showArrived();
  const settings = await (await fetch('/site/settings')).json();
  if (settings.error !== undefined) throw new Error(settings.error);
  const calls = await libraries[library](settings);
  window.calls = calls;
  for (const button of document.querySelectorAll('button[data-call]')) {
    button.addEventListener('click', () => calls[button.dataset.call]());
  }
  state.textContent = `Ready: ${library}`;
}

start().catch((error) => {
  state.textContent = `Not ready: ${error.message}`;
});
