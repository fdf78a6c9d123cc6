/** What happened, for the events that every ad platform has a name for. */
export type StandardEvent = keyof typeof namesInUse;

/**
 * The platform's name for an event: one of its own names, however it is written, or its name for what the event's name
 * says in common use (`Order Completed` is a purchase). Undefined for an event it has no name for.
 */
export function createEventNames(
  ofStandard: Readonly<Partial<Record<StandardEvent, string>>>,
  others: readonly string[] = [],
): (eventName: string) => string | undefined {
  const names = new Map<string, string>();
  // The platform's own names first: the same word may mean another thing elsewhere.
  for (const name of [...Object.values(ofStandard), ...others]) names.set(plain(name), name);
  for (const [standard, common] of Object.entries(namesInUse)) {
    const name = ofStandard[standard as StandardEvent];
    if (name === undefined) continue;
    for (const alias of common) if (!names.has(alias)) names.set(alias, name);
  }
  return (eventName) => (eventName.length > nameCharactersMax ? undefined : names.get(plain(eventName)));
}

const nameCharactersMax = 100;

/** `Order Completed`, `order_completed` and `orderCompleted` are one. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/**
 * Names in common use, of the e-commerce vocabularies of customer data platforms, of Google Analytics 4 and of the ad
 * platforms themselves, without case and separators.
 */
const namesInUse = {
  pageView: ['pageview', 'pageviewed', 'viewedpage', 'page', 'pagevisit', 'pagevisited', 'pageloaded'],
  viewContent: ['viewcontent', 'productviewed', 'viewedproduct', 'productview', 'viewitem', 'contentviewed'],
  viewList: ['viewlist', 'viewcategory', 'productlistviewed', 'viewitemlist', 'listview', 'categoryviewed'],
  search: ['search', 'searched', 'productssearched', 'viewsearchresults'],
  addToCart: ['addtocart', 'productadded', 'addedtocart', 'addcart', 'cartadded'],
  addToWishlist: ['addtowishlist', 'productaddedtowishlist', 'addedtowishlist'],
  startCheckout: ['initiatecheckout', 'checkoutstarted', 'begincheckout', 'startcheckout', 'startedcheckout'],
  addPaymentInfo: ['addpaymentinfo', 'paymentinfoentered', 'addbilling', 'paymentinfoadded'],
  purchase: ['purchase', 'ordercompleted', 'completepayment', 'placedorder', 'orderplaced', 'completedorder'],
  signUp: ['signup', 'signedup', 'completeregistration', 'registrationcompleted', 'accountcreated', 'registered'],
  lead: ['lead', 'generatelead', 'leadsubmitted', 'leadcreated', 'formsubmitted', 'submitform', 'formsubmit'],
  subscribe: ['subscribe', 'subscribed', 'subscriptionstarted', 'subscriptioncreated'],
  startTrial: ['starttrial', 'trialstarted', 'startedtrial'],
  contact: ['contact', 'contacted', 'contactus'],
  schedule: ['schedule', 'scheduled', 'appointmentscheduled', 'appointmentbooked', 'bookappointment'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
