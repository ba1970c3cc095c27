"""The chapters of the Edge Reliability Gap: what each reads off records, draws and concludes."""
