"""Why did this flow take so long? Its run is made again, with a trace of that flow alone."""
