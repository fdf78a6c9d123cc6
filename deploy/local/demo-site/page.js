// The demo site: one page, and the calls of whichever library the query names.

const query = new URLSearchParams(location.search);
const library = query.get('library') ?? 'sluice';
// How the libraries of others send: one by one, in batches, by beacon.
const inBatches = query.has('batch');
// Who signs in.
const customer = query.get('customer') ?? 'ada';
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
      identify: () => window.sluice('identify', customer, { email: ada.email, first_name: ada.firstName }),
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
  async posthog({ gateway, key }) {
    await loadScript('/site/posthog.js');
    await new Promise((resolve) =>
      window.posthog.init(key, {
        api_host: gateway,
        autocapture: false,
        // A browser that a test drives is no bot here.
        opt_out_useragent_filter: true,
        loaded: resolve,
      }),
    );
    const { posthog } = window;
    return {
      track: () => posthog.capture('Order Completed', order),
      identify: () => posthog.identify(customer, ada),
      page: () => posthog.capture('$pageview'),
      group: () => posthog.group('company', 'acme', { name: 'Acme', employees: 12 }),
    };
  },
};

const callsOf = (analytics) => ({
  track: () => analytics.track('Order Completed', order),
  identify: () => analytics.identify(customer, ada),
  page: () => analytics.page('Docs', 'More'),
  group: () => analytics.group('acme', { name: 'Acme', employees: 12 }),
  alias: () => analytics.alias(`${customer}-new`, customer),
});

/** Ids of the requests that the sink had at the last poll. */
let known;

async function showArrived() {
  try {
    const { events } = await (await fetch('/events?limit=20')).json();
    const ids = events.map(idOf);
    if (ids.length > 0 && ids[0] !== known?.[0]) {
      const items = events.map((request, index) => itemOf(request, known !== undefined && !known.includes(ids[index])));
      document.getElementById('arrived').replaceChildren(...items);
      known = ids;
    }
    known ??= [];
  } catch {
    // The next poll may succeed.
  }
  setTimeout(showArrived, 1_000);
}

const idOf = ({ time, body }) => `${time} ${body?.event?.id}`;

/** The list item of a request: the visitor of its event, and its content. */
function itemOf({ time, body }, isNew) {
  const { event, visitor } = body ?? {};
  const item = element('li', isNew ? 'new' : '');
  const head = element('div', 'head');
  head.append(
    element('strong', '', event?.event ?? 'A request'),
    element('time', '', new Date(time).toLocaleTimeString()),
  );
  const facts = element('dl');
  const who = [visitor?.first_name, visitor?.email].filter(Boolean).join(', ');
  for (const [name, value] of [['visitor', who || visitor?.id], ...Object.entries(event?.event_properties ?? {})]) {
    if (value === undefined || value === '') continue;
    facts.append(element('dt', '', name), element('dd', '', typeof value === 'string' ? value : JSON.stringify(value)));
  }
  item.append(head, facts);
  return item;
}

function element(name, className = '', text = '') {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

async function start() {
  for (const link of document.querySelectorAll('nav a')) {
    if (new URL(link.href).searchParams.get('library') === library) link.setAttribute('aria-current', 'page');
  }
  // Only our own script looks for marked elements.
  document.querySelector('button[data-sluice]').hidden = library !== 'sluice';
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
